// Applies the settings that statements rely on to each new connection, and verifies them. A pooler in transaction mode, such as
// PgBouncer, uses another server connection for each transaction, so settings do not last: there the role must have them.
import { randomUUID } from 'node:crypto';
import { Connection, connectionConfig, execute } from './driver/connection.ts';
import type { ConnectionOptions, Statement } from './statement.ts';
import { PoolerError } from './errors.ts';

/** Truckroll's own settings, which only triggers read. Each transaction sets them itself, because releases may share connections. */
const isOwn = (name: string): boolean => name.startsWith('truckroll.');

function connectionSettings(options: ConnectionOptions): Record<string, string> {
  const { schema, statementTimeoutMs = 15_000, settings = {} } = options;
  return {
    TimeZone: 'UTC',
    // Compiling a plan costs more than it saves on statements that take a millisecond.
    jit: 'off',
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: '60000',
    ...(schema === undefined ? {} : { search_path: `"${schema}"` }),
    ...Object.fromEntries(Object.entries(settings).filter(([name]) => !isOwn(name))),
  };
}

/** The statement with which a transaction sets Truckroll's own settings, or undefined if there are none. */
export function transactionSettings({ settings = {} }: ConnectionOptions): Statement | undefined {
  const own = Object.entries(settings).filter(([name]) => isOwn(name));
  if (own.length === 0) return undefined;
  return { name: 'transaction_settings', text: `select ${own.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}` };
}

/** Sets up a new connection of a pool. Throws PoolerError. */
export async function settle(client: Connection, options: ConnectionOptions): Promise<void> {
  const { direct, wrong } = await setOrRead(client, connectionSettings(options));
  if (direct || wrong.length === 0) return;
  if (await keepsSession(client, options)) return void (await setOrRead(client, connectionSettings(options), true));
  const role = client.user ?? '';
  const remedies = wrong.map(([name, value]) => `alter role "${role}" set ${name} = ${name === 'search_path' ? value : `'${value}'`};`);
  throw new PoolerError(
    `DATABASE_URL leads to a pooler that does not keep sessions, and its role lacks required settings: run ${remedies.join(' ')} and let the pooler reconnect`,
  );
}

/** Sets up a session. Throws PoolerError if the connection does not keep its settings. */
export async function settleSession(client: Connection, options: ConnectionOptions): Promise<void> {
  const settings = { ...options.settings, ...connectionSettings(options) };
  const { direct } = await setOrRead(client, settings);
  if (direct) return;
  if (await keepsSession(client, options)) return void (await setOrRead(client, settings, true));
  throw new PoolerError(
    'DATABASE_SESSION_URL, or DATABASE_URL where that is not set, leads to a pooler that does not keep sessions (transaction mode): ' +
      'set DATABASE_SESSION_URL to PostgreSQL itself or to a pool in session mode',
  );
}

/** $3 is the backend process number that the client received when it connected: without a pooler it is the server's own. */
const SET_OR_READ = `select name, value, pg_backend_pid() as pid,
    coalesce(case
      when $2 or pg_backend_pid() = $3 then set_config(name, value, false) is not null
      when name = 'search_path' then value = '"' || current_schema() || '"'
      else value = (select setting from pg_settings p where p.name = s.name) end, false) as correct
  from json_each_text($1) s(name, value)`;

/** Applies the settings if there is no pooler, or if `maySet` says that it keeps them; otherwise only reads them. */
async function setOrRead(client: Connection, settings: Readonly<Record<string, string>>, maySet = false) {
  const { processID } = client as unknown as { processID: number };
  const { rows } = await execute<{ name: string; value: string; pid: number; correct: boolean }>(client, {
    text: SET_OR_READ,
    values: [JSON.stringify(settings), maySet, processID],
  });
  return {
    direct: rows.every(({ pid }) => pid === processID),
    wrong: rows.filter(({ correct }) => !correct).map(({ name, value }) => [name, value] as const),
  };
}

/** Several tries, because one may get the same server connection by chance while others use the pool. */
const TRIES = 3;

/** Whether a connection keeps its settings even after another connection has used the pooler. */
async function keepsSession(client: Connection, options: ConnectionOptions): Promise<boolean> {
  const mark = (of: Connection, value: string) => execute(of, { text: `select set_config('truckroll.session', $1, false)`, values: [value] });
  const isMarked = async (value: string): Promise<boolean> => {
    const { rows } = await execute<{ marked: boolean | null }>(client, {
      text: `select current_setting('truckroll.session', true) = $1 as marked`,
      values: [value],
    });
    return rows[0]?.marked === true;
  };
  const other = new Connection(connectionConfig(options));
  try {
    await other.connect();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const value = randomUUID();
      await mark(client, value);
      if (!(await isMarked(value))) return false;
      await mark(other, '');
      if (!(await isMarked(value))) return false;
    }
    return true;
  } finally {
    await other.end().catch(() => undefined);
  }
}
