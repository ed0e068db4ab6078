// How the other cell's PostgreSQL reads what changes here: by an address that becomes part of a subscription there, with its password.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { parseDatabaseUrl } from '@truckroll/postgres';
import type { Cell } from './cells.ts';
import { reasonOf } from './reasons.ts';
import { nameOf } from './state.ts';

const READING_TIMEOUT = '10s';

/** Where the other cell's PostgreSQL reads, with which role and password. */
export function sourceUrl({ session, url }: Pick<Cell, 'session' | 'url'>): string {
  const given = session.secret('FROM_DATABASE_URL');
  if (given === undefined || parseDatabaseUrl(given) !== undefined) return given ?? url;
  throw new Failure('FROM_DATABASE_URL is no address of a database, such as postgres://user:password@host:5432/truckroll.', EXIT.usage);
}

export const connectionTo = (url: string): string => `connection '${url.replaceAll("'", "''")}'`;

export const trialOf = (companyId: string): string => `${nameOf(companyId)}_trial`;

/** Why the other cell could not read a publication of tables there, found by a subscription that is rolled back. */
export async function readingFault(to: Cell, companyId: string, url: string, publication: string): Promise<string | undefined> {
  const name = trialOf(companyId);
  const text = `create subscription ${name} ${connectionTo(url)} publication ${publication} with (copy_data = false, create_slot = false, slot_name = none, enabled = false)`;
  let fault: string | undefined;
  await unlogged(to, async () => {
    await to.db.query({ text: 'begin' });
    try {
      await to.db.query({ text: `set local statement_timeout = '${READING_TIMEOUT}'` });
      await to.db.query({ text });
      // It has found no table of a publication that is not there.
      const tables = 'select from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid where s.subname = $1 limit 1';
      if ((await to.db.query({ text: tables, values: [name] })).rowCount === 0) fault = 'it leads to another database than DATABASE_URL';
    } catch (error) {
      fault = reasonOf(error);
    } finally {
      await to.db.query({ text: 'rollback' });
    }
  });
  return fault;
}

/** The same before there is a publication of the move. */
export async function trialFault(from: Cell, to: Cell, companyId: string): Promise<string | undefined> {
  const name = trialOf(companyId);
  const drop = { text: `drop publication if exists ${name}` };
  // Not two commands at once.
  await from.db.query({ text: 'select pg_advisory_lock(hashtextextended($1, 0))', values: [name] });
  try {
    await from.db.query(drop);
    await from.db.query({ text: `create publication ${name} for table integrations.moves with (publish = 'insert')` });
    return await readingFault(to, companyId, sourceUrl(from), name);
  } finally {
    await from.db.query(drop);
    await from.db.query({ text: 'select pg_advisory_unlock(hashtextextended($1, 0))', values: [name] });
  }
}

export const cannotRead = (fault: string): string =>
  `The other cell's PostgreSQL cannot read here: ${fault}. Correct FROM_DATABASE_URL, its role, or who may connect`;

/**
 * PostgreSQL logs a statement that fails, and this one has a password. Connecting after it, in a second statement, is no way: what is sent
 * between enabling and refreshing the subscription would be left out.
 */
export async function unlogged({ db }: Cell, work: () => Promise<void>): Promise<void> {
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
