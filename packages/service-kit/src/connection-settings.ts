// What statements rely on is set on each new connection and read back. A pooler in transaction mode, such as PgBouncer's, gives each
// transaction another server connection: nothing can be set there for the next one, so the role must have the settings.
import { randomUUID } from 'node:crypto';
import { Connection, connectionConfig, execute, type ConnectionOptions, type Statement } from './connection.ts';
import { PoolerError } from './database-errors.ts';

/** Settings of ours, which only triggers read. Connections are shared by releases, so each transaction sets them for itself. */
const isOwn = (name: string): boolean => name.startsWith('truckroll.');

/** Settings of every connection, as PostgreSQL's view pg_settings writes their values. */
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

/** The statement by which a transaction sets our own settings for itself, or undefined where there are none. */
export function transactionSettings({ settings = {} }: ConnectionOptions): Statement | undefined {
  const own = Object.entries(settings).filter(([name]) => isOwn(name));
  if (own.length === 0) return undefined;
  return { name: 'transaction_settings', text: `select ${own.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}` };
}

/** Sets a new connection of a pool up. Throws PoolerError. */
export async function settle(client: Connection, options: ConnectionOptions): Promise<void> {
  const { direct, wrong } = await setOrRead(client, connectionSettings(options));
  if (direct || wrong.length === 0) return;
  if (await keepsSession(client, options)) return void (await setOrRead(client, connectionSettings(options), true));
  const role = client.user ?? '';
  const remedies = wrong.map(([name, value]) => `alter role "${role}" set ${name} = ${name === 'search_path' ? value : `'${value}'`};`);
  throw new PoolerError(
    `DATABASE_URL leads to a pooler that does not keep sessions, and its role lacks settings that are needed: run ${remedies.join(' ')} and let the pooler reconnect`,
  );
}

/** Sets a session up. Throws PoolerError where the connection does not keep it. */
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

/** Without a pooler, the process number ($3) that the client got when it connected is the server's. */
const SET_OR_READ = `select name, value, pg_backend_pid() as pid,
    coalesce(case
      when $2 or pg_backend_pid() = $3 then set_config(name, value, false) is not null
      when name = 'search_path' then value = '"' || current_schema() || '"'
      else value = (select setting from pg_settings p where p.name = s.name) end, false) as correct
  from json_each_text($1) s(name, value)`;

/** Sets the settings where no pooler is in between, or where `maySet` says that it keeps them, and reads them otherwise. */
async function setOrRead(client: Connection, settings: Readonly<Record<string, string>>, maySet = false) {
  const { processID } = client as unknown as { processID: number };
  const { rows } = await execute(client, { text: SET_OR_READ, values: [JSON.stringify(settings), maySet, processID] });
  const found = rows as { name: string; value: string; pid: number; correct: boolean }[];
  return {
    direct: found.every(({ pid }) => pid === processID),
    wrong: found.filter(({ correct }) => !correct).map(({ name, value }) => [name, value] as const),
  };
}

/** One try can find the same server connection by chance where others use the pool as well. */
const TRIES = 3;

/** Whether a connection finds what it has set, also after another one has used the pooler. */
async function keepsSession(client: Connection, options: ConnectionOptions): Promise<boolean> {
  const mark = (of: Connection, value: string) => execute(of, { text: `select set_config('truckroll.session', $1, false)`, values: [value] });
  const isMarked = async (value: string): Promise<boolean> => {
    const { rows } = await execute(client, { text: `select current_setting('truckroll.session', true) = $1 as marked`, values: [value] });
    return (rows[0] as { marked: boolean | null }).marked === true;
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
