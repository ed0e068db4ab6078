// What PostgreSQL does of a move: two publications of the company's rows and a slot here, a subscription there. All have the name of the move.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createSlot, type SlotSnapshot } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import type { Cell } from './cells.ts';
import { LOG, type MovedTable } from './tables.ts';

const LOOK_MS = 20;
/** Maximum restarts of a subscription that has stopped, and the pause in ms after each. A conflict stops it again each time. */
const [MOST_TRIES, AGAIN_MS] = [3, 1000];
const READING_TIMEOUT = '10s';

export const nameOf = (companyId: string): string => `move_${companyId.replaceAll('-', '')}`;
const logOf = (name: string): string => `${name}_log`;

/** Its slot keeps all changes from the snapshot on. A slot of before is dropped, because its snapshot is lost. */
export async function publish(from: Cell, companyId: string, tables: readonly MovedTable[], signal: AbortSignal): Promise<SlotSnapshot> {
  const name = nameOf(companyId);
  await unpublish(from, companyId, signal);
  // Without truncations, which have no filter: they would empty the tables of others.
  await makePublication(
    from,
    name,
    companyId,
    'insert, update, delete',
    tables.filter(({ table }) => table !== LOG),
  );
  // Deletions would find no row of the log there, because its versions are others (docs/adr/0027).
  await makePublication(
    from,
    logOf(name),
    companyId,
    'insert',
    tables.filter(({ table }) => table === LOG),
  );
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
  for (const each of [name, logOf(name)]) await from.db.query({ text: `drop publication if exists ${each}` });
}

export async function subscribe(to: Cell, companyId: string, sourceUrl: string): Promise<void> {
  const name = nameOf(companyId);
  if (await isSubscribed(to, companyId)) return;
  // The copy's transactions have ended, so the changes since its snapshot follow.
  const settings = `copy_data = false, create_slot = false, slot_name = '${name}', streaming = off, disable_on_error = true`;
  const text = `create subscription ${name} ${connectionTo(sourceUrl)} publication ${name}, ${logOf(name)} with (${settings})`;
  await unlogged(to, async () => void (await to.db.query({ text }))).catch((error: unknown) => {
    // Said by the other cell's PostgreSQL of its connection to here.
    if (!/^08...$/.test(causeOf(error).code ?? '')) throw error;
    const remedy = 'Correct FROM_DATABASE_URL, its role, or who may connect, and run the command again.';
    throw new Failure(`The other cell's PostgreSQL cannot read here: ${reasonOf(error)}. ${remedy}`, EXIT.refused, error);
  });
}

const causeOf = (error: unknown) => ((error as Error).cause ?? error) as { code?: string; message: string; detail?: string };

/** In PostgreSQL's words. */
function reasonOf(error: unknown): string {
  const { message, detail } = causeOf(error);
  return `${message} ${detail ?? ''}`.replaceAll(/\s+/g, ' ').replace(/[. ]+$/, '');
}

const connectionTo = (sourceUrl: string): string => `connection '${sourceUrl.replaceAll("'", "''")}'`;

/** PostgreSQL's reason why a subscription could not read there, found by one that is rolled back. */
export async function readingFault(to: Cell, companyId: string, sourceUrl: string): Promise<string | undefined> {
  const name = `${nameOf(companyId)}_trial`;
  const text = `create subscription ${name} ${connectionTo(sourceUrl)} publication ${name} with (copy_data = false, create_slot = false, slot_name = none, enabled = false)`;
  let fault: string | undefined;
  await unlogged(to, async () => {
    await to.db.query({ text: 'begin' });
    try {
      await to.db.query({ text: `set local statement_timeout = '${READING_TIMEOUT}'` });
      await to.db.query({ text });
    } catch (error) {
      fault = reasonOf(error);
    } finally {
      await to.db.query({ text: 'rollback' });
    }
  });
  return fault;
}

/**
 * PostgreSQL logs a statement that fails, and this one has a password. Connecting after it, in a second statement, is no way: what is sent
 * between enabling and refreshing the subscription would be left out.
 */
async function unlogged({ db }: Cell, work: () => Promise<void>): Promise<void> {
  const name = 'log_min_error_statement';
  const { rows } = await db.query<{ may: boolean }>({ text: `select has_parameter_privilege('${name}', 'set') as may` });
  if (rows[0]?.may !== true) return await work();
  await db.query({ text: `set ${name} = panic` });
  try {
    await work();
  } finally {
    await db.query({ text: `reset ${name}` });
  }
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

/** Resolves when the other cell has stored everything that was committed here before the call. */
export async function untilApplied(from: Cell, to: Cell, companyId: string, signal: AbortSignal): Promise<void> {
  const name = nameOf(companyId);
  // A new position, because that of a server without writes may never be confirmed.
  const { rows } = await from.db.query<{ position: string }>({ text: `select pg_logical_emit_message(true, 'truckroll-move', '')::text as position` });
  for (let tries = 0; ; ) {
    const { rows: slots } = await from.db.query<{ passed: boolean; lost: boolean }>({
      text: `select confirmed_flush_lsn > $2::pg_lsn as passed, wal_status = 'lost' as lost from pg_replication_slots where slot_name = $1`,
      values: [name, rows[0]!.position],
    });
    if (slots[0] === undefined || slots[0].lost) {
      throw new Failure(`The slot ${name} is lost, because it kept more than max_slot_wal_keep_size: give up with --abort, and begin again.`, EXIT.refused);
    }
    if (slots[0].passed) return;
    const { rows: stopped } = await to.db.query({ text: 'select from pg_subscription where subname = $1 and not subenabled', values: [name] });
    if (stopped.length > 0) {
      // It stops when it loses its connection, too, as at a restart of the source.
      if (tries++ < MOST_TRIES) {
        await to.db.query({ text: `alter subscription ${name} enable` });
        await pause(AGAIN_MS, signal);
        continue;
      }
      throw new Failure(`The subscription ${name} has stopped at an error: see the other cell's PostgreSQL log, and give up with --abort.`, EXIT.refused);
    }
    await pause(LOOK_MS, signal);
    signal.throwIfAborted();
  }
}
