// The two cells of a move: this one, which the company leaves, and the other one, whose variables begin with its name or TO_.
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createSession, type DatabaseSession, type Queryable } from '@truckroll/postgres';
import type { CellCalls } from '../cells/switch.ts';
import { Session } from '../session.ts';
import { explained, notConnected } from './reasons.ts';

export interface Cell {
  /** In words for the operator. */
  readonly title: string;
  readonly session: Session;
  readonly url: string;
  /** That names the address. */
  readonly variable: string;
  /** Outside transactions, and as an ordinary session. */
  readonly db: DatabaseSession;
  /** Differs from that of every other database. */
  readonly identity: string;
  /** Client of its integrations, if the cell has a name. The name is read once, because it does not change during a move. */
  readonly calls: () => Promise<CellCalls | undefined>;
  close(): Promise<void>;
}

/** The cells between which a company moves. */
export interface Moving {
  readonly session: Session;
  readonly from: Cell;
  readonly to: Cell;
  readonly id: string;
  readonly signal: AbortSignal;
}

const SEPARATE = 'a cell with a server for each service';
const NEEDED = [...owners.map(addressVariable), 'DATABASE_URL', 'CALL_CREDENTIAL'];

/** `to`: name of the other cell, if given. Throws Failure if a variable is missing: a command that found this cell instead would open what it has closed. */
export function otherSession(session: Session, to: string | undefined): Session {
  const prefix = `${(to ?? 'to').toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_`;
  const env = Object.fromEntries(
    Object.entries(session.io.env).flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])),
  );
  const missing = NEEDED.filter((name) => !env[name] && !env[`${name}_FILE`]).map((name) => prefix + name);
  if (missing.length > 0)
    throw new Failure(`Set ${missing.join(', ')}: they say where the other cell is. Without --to they begin with TO_, else with its name.`, EXIT.usage);
  const other = new Session({ ...session.io, env }, prefix);
  other.json = session.json;
  return other;
}

/** Throws Failure unless the other session's variables lead to a cell of this name, which is not this one. */
export async function requireName(own: Session, session: Session, given: string): Promise<void> {
  if ((await callsOf(own))?.name === given) throw new Failure(`This cell is ${given} itself: give --to another one.`, EXIT.refused);
  const name = (await callsOf(session))?.name;
  if (name !== given) throw new Failure(`There is no cell ${given} at ${session.address('integrations')}, but ${name ?? 'one without a name'}.`, EXIT.refused);
}

export async function openCell(title: string, session: Session): Promise<Cell> {
  const urls = new Map(owners.map((owner) => session.database(owner)).map((found) => [found.url, found.variable]));
  if (urls.size > 1) throw new Failure(`In ${title} services have separate servers. Companies of ${SEPARATE} cannot be moved.`, EXIT.refused);
  const [url, variable] = [...urls][0]!;
  const db = await open({ title, url, variable });
  const { rows } = await db.query<{ identity: string; missing: string[] }>({
    text: `select system_identifier || '/' || current_database() as identity,
        array(select owner from unnest($1::text[]) owner where to_regnamespace(owner) is null) as missing
      from pg_control_system()`,
    values: [owners],
  });
  const { identity, missing } = rows[0]!;
  if (missing.length > 0) {
    await db.close();
    throw new Failure(
      `The database of ${title} has no schema ${missing.join(', ')}: give it that of all its services. Companies of ${SEPARATE} cannot be moved.`,
      EXIT.refused,
    );
  }
  let named: { calls: CellCalls | undefined } | undefined;
  const calls = async (): Promise<CellCalls | undefined> => (named ??= { calls: await callsOf(session) }).calls;
  return { title, session, url, variable, db, identity, calls, close: () => db.close() };
}

async function callsOf(session: Session): Promise<CellCalls | undefined> {
  const calls = session.client('integrations', CellAdminServiceService);
  const { cell } = await calls.describeCell({});
  return cell == null ? undefined : { name: cell, calls };
}

export async function withCell(title: string, session: Session, work: (cell: Cell) => Promise<void>): Promise<void> {
  let cell: Cell | undefined;
  try {
    cell = await openCell(title, session);
    await work(cell);
  } catch (error) {
    throw explained(error);
  } finally {
    await cell?.close();
  }
}

function open({ title, url, variable }: Pick<Cell, 'title' | 'url' | 'variable'>): Promise<DatabaseSession> {
  // What a slot sends is on the disk. A machine that is lost gives up the lock of the move within a minute.
  const settings = { synchronous_commit: 'on', tcp_keepalives_idle: '10', tcp_keepalives_interval: '10', tcp_keepalives_count: '3' };
  return createSession({ url, statementTimeoutMs: 0, applicationName: 'truckroll-move', settings }).catch((error: unknown) => {
    throw notConnected(error, title, variable);
  });
}

/** Runs work on a new connection, in one transaction that begins with these statements. */
export async function inTransaction(cell: Cell, beginning: readonly string[], work: (tx: Queryable) => Promise<void>): Promise<void> {
  const db = await open(cell);
  try {
    for (const text of beginning) await db.query({ text });
    await work(db);
    await db.query({ text: 'commit' });
  } finally {
    // Rolls back what was not committed.
    await db.close();
  }
}

/** Changes rows as a replica does: no trigger refuses the change, derives from it, notes it or removes what refers to the row. */
export async function asReplica<T>(cell: Cell, work: (batch: (change: (db: Queryable) => Promise<void>) => Promise<void>) => Promise<T>): Promise<T> {
  const db = await open(cell);
  try {
    await db.query({ text: 'set session_replication_role = replica' });
    return await work(async (change) => {
      await db.query({ text: 'begin' });
      await change(db);
      await db.query({ text: 'commit' });
    });
  } finally {
    await db.close();
  }
}

/** Runs these at once. If one fails, it fails when the others have ended, which they then do. */
export async function together(until: AbortSignal, works: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([until, ended.signal]);
  const all = works.map((work) => work(signal));
  try {
    await Promise.all(all);
  } finally {
    ended.abort();
    await Promise.allSettled(all);
  }
}

/** The services that accept changes of the company in this database. */
export async function openServices({ db }: Cell, companyId: string): Promise<Owner[]> {
  const text = owners
    .map((owner) => `select '${owner}' as owner where not exists (select from ${owner}.frozen_companies where company_id = $1 and closed_at is not null)`)
    .join(' union all ');
  const { rows } = await db.query<{ owner: Owner }>({ text, values: [companyId] });
  return rows.map(({ owner }) => owner);
}

/** Throws Failure unless the services of the cell, which have frozen the company, use this database. */
export async function requireSameDatabase(cell: Cell, companyId: string): Promise<void> {
  const strangers = await openServices(cell, companyId);
  if (strangers.length === 0) return;
  throw new Failure(
    `${strangers.join(', ')} of ${cell.title} froze the company in another database than ${cell.variable} names: correct one of the two.`,
    EXIT.refused,
  );
}
