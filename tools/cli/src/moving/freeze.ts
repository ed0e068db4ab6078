// Freezes a company and ends that (docs/adr/0026): one service after the other. Each run continues where the last one stopped.
import type { Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { FreezeServiceService, type FreezeState } from '@truckroll/contract/gen/records/v1/freezes';
import type { Callers } from '@truckroll/grpc';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { isUnavailable, type Queryable } from '@truckroll/postgres';
import { backoffMs, pause } from '@truckroll/process';
import type { Session } from '../session.ts';
import { inTransaction, together, type Cell } from './cells.ts';
import { OUTAGE_MS, despiteOutage, reasonOf } from './reasons.ts';
import { isBefore, nameOf, stateOf } from './state.ts';

/** Owners first, and before each service those whose messages it reads: none is published that a later one would refuse. */
export const ORDER: readonly Owner[] = ['scheduling', 'billing', 'reporting', 'integrations'];
/** Interval between calls: short, because writes of a company that is being closed are refused. */
const LOOK = { firstMs: 10, mostMs: 100 };
/** The same if each call costs others something, as one that waits for a table holds up its other writers for moments. */
const LOOK_SELDOM = { firstMs: 50, mostMs: 5000 };
/** Time in ms after which it says what a service waits for. */
const SAY_MS = 5000;
/** Deadline of a call, in ms: it may wait for an import of the company. */
const DEADLINE_MS = 30_000;
/** Time in ms for which it tries to remove triggers. They refuse nothing any more. */
const REMOVE_MS = 10_000;

/** Returns when it was frozen, in microseconds. */
export async function freezeIn(session: Session, id: string): Promise<number> {
  const frozenAt = await beginIn(session, id);
  await closeIn(session, id);
  return frozenAt;
}

/** Waits for webhooks and e-mails that are being sent, and has no others begin. The company can still be changed. Returns since when, in microseconds. */
export async function beginIn(session: Session, id: string): Promise<number> {
  let since = 0;
  await repeat(session, 'integrations', async (_, options) => {
    const { frozen_at: at, waits_for: waitsFor } = await session.channel('integrations').client(CompanyAdminServiceService).freezeCompany({ id }, options);
    since = at;
    return waitsFor == null ? undefined : { for: waitsFor };
  });
  return since;
}

/** Makes what will refuse changes of the company, so that `freezeIn` does not wait for the transactions of others. It refuses nothing yet. */
export async function prepareIn(session: Session, id: string): Promise<void> {
  for (const owner of ORDER) {
    await repeat(session, owner, async (service, options) => {
      const { tables } = await service.prepareFreeze({ company_id: id }, options);
      return tables.length === 0 ? undefined : usersOf(tables);
    });
  }
}

/**
 * Has every service refuse changes of the company, also of one that this cell does not have: first scheduling, whose messages the others read.
 * Integrations reads only audit entries of billing and reporting, which it goes on storing: see `untilTrailIsComplete`.
 */
export async function closeIn(session: Session, id: string, until = session.io.signal): Promise<void> {
  await close(session, id, 'scheduling', until);
  await together(until, [
    async (signal) => {
      await close(session, id, 'billing', signal);
      await close(session, id, 'reporting', signal);
    },
    (signal) => close(session, id, 'integrations', signal),
  ]);
}

/** Waits for every service of the cell: one that is away or hangs would keep the company waiting. */
export async function allAnswer({ session }: Cell, id: string): Promise<void> {
  const ask = async (service: Calls, { signal }: CallOptions) => void (await service.getFreeze({ company_id: id }, { signal, deadlineMs: SAY_MS }));
  for (const owner of ORDER) await repeat(session, owner, ask);
}

function close(session: Session, id: string, owner: Owner, signal: AbortSignal): Promise<void> {
  const call = async (service: Calls, options: CallOptions): Promise<Wait | undefined> => {
    const { state } = await service.freeze({ company_id: id }, options);
    return state?.closed === true ? undefined : (waitOf(state) ?? { for: 'an answer' });
  };
  return repeat(session, owner, call, signal);
}

/**
 * Waits until everything that the services have reported of the frozen company is in its audit trail. Integrations notes again where the trail's
 * topics end: it may have closed before billing and reporting, which publish entries until then.
 */
export async function untilTrailIsComplete({ session, db }: Cell, id: string): Promise<void> {
  await db.query({ text: 'update integrations.frozen_companies set passes = null where company_id = $1', values: [id] });
  await repeat(session, 'integrations', async (service, options) => waitOf((await service.freeze({ company_id: id }, options)).state));
}

interface Left {
  readonly service: Owner;
  readonly tables: readonly string[];
}

/** `known`: whether the cell has the company. Returns tables whose triggers, which refuse nothing any more, could not be removed. */
export async function unfreezeIn(session: Session, id: string, known: boolean): Promise<readonly Left[]> {
  await acceptIn(session, id);
  if (known) await endIn(session, id);
  return await removeFencesIn(session, id);
}

/** Has every service accept changes again, each after those that read its messages. What has refused them is left, and refuses nothing. */
export async function acceptIn(session: Session, id: string): Promise<void> {
  const accept = (owner: Owner, signal = session.io.signal): Promise<void> =>
    repeat(session, owner, async (service, options) => void (await service.unfreeze({ company_id: id }, options)), signal);
  await together(session.io.signal, [(signal) => accept('reporting', signal), (signal) => accept('integrations', signal)]);
  await accept('billing');
  await accept('scheduling');
}

/** As `acceptIn`, also in services that are away. Throws Failure if the company is still closed. */
export async function openAtOnce(cell: Cell, id: string): Promise<void> {
  try {
    await open(cell.db, id).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      return despiteOutage(cell.session, () => inTransaction(cell, ['begin', `set local lock_timeout = ${OUTAGE_MS}`], (db) => openAlone(db, id)));
    });
  } catch (error) {
    const what = `The company ${id} still refuses changes in ${cell.title}: ${reasonOf(error)}. Run the command again, which goes on.`;
    throw new Failure(what, EXIT.unreachable, error);
  }
}

/** The lock of `alone` was lost with the connection: another command may be at work, or have moved the company since. */
async function openAlone(db: Queryable, id: string): Promise<void> {
  await db.query({ text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', values: [nameOf(id)] });
  const state = await stateOf({ db }, id);
  if (state !== undefined && !isBefore(state.step, 'opening')) throw new Failure('the move has gone further than this command knows', EXIT.refused);
  await open(db, id);
}

async function open(db: Queryable, id: string): Promise<void> {
  // The row of integrations stays until the end of the freeze is recorded.
  const text = `with scheduling as (delete from scheduling.frozen_companies where company_id = $1),
      billing as (delete from billing.frozen_companies where company_id = $1),
      reporting as (delete from reporting.frozen_companies where company_id = $1)
    update integrations.frozen_companies set closed_at = null, passes = null where company_id = $1`;
  await db.query({ text, values: [id] });
}

/** Records the end of the freeze, and begins webhooks and e-mails again. The cell must have the company. */
export async function endIn(session: Session, id: string): Promise<void> {
  await session.client('integrations', CompanyAdminServiceService).unfreezeCompany({ id });
}

export async function removeFencesIn(session: Session, id: string): Promise<readonly Left[]> {
  const until = performance.now() + REMOVE_MS;
  const left: Left[] = [];
  for (const owner of ORDER) {
    await repeat(session, owner, async (service, options) => {
      const { tables } = await service.removeFences({ company_id: id }, options);
      if (tables.length === 0) return undefined;
      if (performance.now() < until) return usersOf(tables);
      left.push({ service: owner, tables });
      return undefined;
    });
  }
  return left;
}

type Calls = Callers<typeof FreezeServiceService>;
interface CallOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

interface Wait {
  /** In words for the operator. */
  readonly for: string;
  /** Whether each further call costs others something. */
  readonly seldom?: boolean;
}

const waitOf = (state: FreezeState | null): Wait | undefined =>
  state?.waits_for == null ? undefined : { for: state.waits_for, seldom: state.ask_seldom === true };

const usersOf = (tables: readonly string[]): Wait => ({ for: `transactions that use ${tables.join(', ')}`, seldom: true });

/** Repeats a call until it waits for nothing, also while the service is away. */
async function repeat(
  session: Session,
  owner: Owner,
  call: (service: Calls, options: CallOptions) => Promise<Wait | undefined>,
  signal = session.io.signal,
): Promise<void> {
  let said: string | undefined;
  let before: Wait | undefined;
  for (let since = performance.now(), tries = 1; ; await pause(backoffMs(tries, before?.seldom ? LOOK_SELDOM : LOOK), signal)) {
    signal.throwIfAborted();
    let wait: Wait | undefined;
    try {
      wait = await call(session.channel(owner).client(FreezeServiceService), { signal, deadlineMs: DEADLINE_MS });
      if (wait === undefined) return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnavailable(error)) throw session.away(owner, error);
      wait = { for: 'PostgreSQL or Kafka, or does not answer' };
    }
    tries += 1;
    if (wait.for !== before?.for) [since, tries] = [performance.now(), 1];
    before = wait;
    if (said === wait.for || performance.now() - since < SAY_MS) continue;
    said = wait.for;
    session.note(`${owner}${session.inCell} waits for ${wait.for}.`);
  }
}
