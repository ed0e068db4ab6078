// What PostgreSQL does of a move: two publications of the company's rows and a slot here, a subscription there. All have the name of the move.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createSlot, type SlotSnapshot } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import type { Cell } from './cells.ts';
import { cannotRead, connectionTo, readingFault, sourceUrl, trialOf, unlogged } from './reading.ts';
import { nameOf } from './state.ts';
import { LOG, type MovedTable } from './tables.ts';

/** Interval between looks, and the same while the company waits. */
const [LOOK_MS, SOON_MS] = [20, 5];
/** Maximum restarts of a subscription that has stopped, and the pause in ms after each. A conflict stops it again each time. */
const [MOST_TRIES, AGAIN_MS] = [3, 1000];
/** Time in ms after which it says why nothing reads the slot. PostgreSQL itself tries again each 5 s. */
const SAY_MS = 6000;

const logOf = (name: string): string => `${name}_log`;

/** Its slot keeps all changes from the snapshot on. A slot of before is dropped, because its snapshot is lost. */
export async function publish(from: Cell, companyId: string, tables: readonly MovedTable[], signal: AbortSignal): Promise<SlotSnapshot> {
  const name = nameOf(companyId);
  await unpublish(from, companyId, signal);
  const [logs, others] = [tables.filter(({ table }) => table === LOG), tables.filter(({ table }) => table !== LOG)];
  // Without truncations, which have no filter: they would empty the tables of others.
  await makePublication(from, name, companyId, 'insert, update, delete', others);
  // Deletions would find no row of the log there, because its versions are others (docs/adr/0027).
  await makePublication(from, logOf(name), companyId, 'insert', logs);
  // After the publications, which it must know.
  return await createSlot({ url: from.url, applicationName: 'truckroll-move' }, name);
}

async function makePublication({ db }: Cell, name: string, companyId: string, changes: string, tables: readonly MovedTable[]): Promise<void> {
  const published = tables.map((table) => `table ${table.name} where (${table.key} = '${companyId}')`);
  await db.query({ text: `create publication ${name} for ${published.join(', ')} with (publish = '${changes}', publish_via_partition_root = true)` });
}

export async function unpublish(from: Cell, companyId: string, signal: AbortSignal): Promise<void> {
  const name = nameOf(companyId);
  for (;;) {
    const slot = { text: 'select active_pid from pg_replication_slots where slot_name = $1', values: [name] };
    const { rows } = await from.db.query<{ active_pid: number | null }>(slot);
    const [found] = rows;
    if (found === undefined) break;
    if (found.active_pid === null) await from.db.query({ text: 'select pg_drop_replication_slot($1)', values: [name] });
    else {
      // The subscription is gone, or what copied has died.
      await from.db.query({ text: 'select pg_terminate_backend($1)', values: [found.active_pid] });
      await pause(LOOK_MS, signal);
      signal.throwIfAborted();
    }
  }
  for (const each of [name, logOf(name), trialOf(companyId)]) await from.db.query({ text: `drop publication if exists ${each}` });
}

/** Makes the subscription, or has that of before read at this address from now on. */
export async function subscribe(to: Cell, companyId: string, url: string): Promise<void> {
  const name = nameOf(companyId);
  const fault = await readingFault(to, companyId, url, name);
  if (fault !== undefined) throw new Failure(`${cannotRead(fault)}, and run the command again.`, EXIT.refused);
  // The copy's transactions have ended, so the changes since its snapshot follow.
  const settings = `copy_data = false, create_slot = false, slot_name = '${name}', streaming = off, disable_on_error = true`;
  const text = (await isSubscribed(to, companyId))
    ? `alter subscription ${name} ${connectionTo(url)}`
    : `create subscription ${name} ${connectionTo(url)} publication ${name}, ${logOf(name)} with (${settings})`;
  await unlogged(to, async () => void (await to.db.query({ text })));
}

/**
 * Before the company is frozen: from now on the other cell flushes each transaction at once, and confirms it at once. Until now it may wait for up to 0.2 s,
 * which costs it less.
 */
export async function hurry(to: Cell, companyId: string): Promise<void> {
  await to.db.query({ text: `alter subscription ${nameOf(companyId)} set (synchronous_commit = 'on')` });
}

/** Works while the source is away, and leaves the slot there to `unpublish`. */
export async function unsubscribe(to: Cell, companyId: string): Promise<void> {
  const name = nameOf(companyId);
  if (!(await isSubscribed(to, companyId))) return;
  await to.db.query({ text: `alter subscription ${name} disable` });
  await to.db.query({ text: `alter subscription ${name} set (slot_name = none)` });
  await to.db.query({ text: `drop subscription ${name}` });
}

async function isSubscribed(to: Cell, companyId: string): Promise<boolean> {
  const text = 'select from pg_subscription where subname = $1 and subdbid = (select oid from pg_database where datname = current_database())';
  return (await to.db.query({ text, values: [nameOf(companyId)] })).rowCount > 0;
}

/**
 * Resolves when the other cell has stored everything that was committed here before the call. `says`: the company does not wait for that, so there is time
 * to print why nothing reads the slot, for which the other cell's PostgreSQL connects once more.
 */
export async function untilApplied(from: Cell, to: Cell, companyId: string, signal: AbortSignal, says = true): Promise<void> {
  const name = nameOf(companyId);
  // A new position, because that of a server without writes may never be confirmed.
  const { rows } = await from.db.query<{ position: string }>({ text: `select pg_logical_emit_message(true, 'truckroll-move', '')::text as position` });
  let [said, since] = ['', performance.now()];
  for (let tries = 0; ; ) {
    const { rows: slots } = await from.db.query<{ passed: boolean; active: boolean; lost: boolean }>({
      text: `select confirmed_flush_lsn > $2::pg_lsn as passed, active, wal_status = 'lost' as lost from pg_replication_slots where slot_name = $1`,
      values: [name, rows[0]!.position],
    });
    const [slot] = slots;
    if (slot === undefined || slot.lost) {
      const why =
        slot === undefined ? 'is gone, as after a failover or restore' : 'is lost, because PostgreSQL kept no more WAL for it (max_slot_wal_keep_size)';
      throw new Failure(`The slot ${name} ${why}: give up with --abort, and begin again.`, EXIT.refused);
    }
    if (slot.passed) return;
    const { rows: stopped } = await to.db.query({ text: 'select from pg_subscription where subname = $1 and not subenabled', values: [name] });
    if (stopped.length > 0) {
      // It stops when it loses its connection, too, as at a restart of the source.
      if (tries++ < MOST_TRIES) {
        await to.db.query({ text: `alter subscription ${name} enable` });
        await pause(AGAIN_MS, signal);
        continue;
      }
      const remedy = "The log of the other cell's PostgreSQL has it. Remove the cause, and run the command again, or give up with --abort.";
      throw new Failure(`The subscription ${name} has stopped at an error. ${remedy}`, EXIT.refused);
    }
    if (slot.active) since = performance.now();
    else if (says && performance.now() - since > SAY_MS) {
      const fault = (await readingFault(to, companyId, sourceUrl(from), name)) ?? 'its log has the reason';
      if (fault !== said) from.session.note(`${cannotRead(fault)}. If you correct the address, end this, and run it again.`);
      [said, since] = [fault, performance.now()];
    }
    await pause(says ? LOOK_MS : SOON_MS, signal);
    signal.throwIfAborted();
  }
}
