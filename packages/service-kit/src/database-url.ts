// PostgreSQL URLs with several hosts, as libpq accepts them, and finding the host that accepts writes. pg supports neither.
import { ApiError } from '@truckroll/contract';
import pg from 'pg';

/** A URL, or a function that reads it again for each new connection. */
export type DatabaseUrl = string | (() => string);

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/;
const ATTRIBUTES = 'target_session_attrs';

export const DATABASE_URL_FORM =
  'postgres://user:password@host:5432/database, and with several hosts, host:5432,other:5432, also ?target_session_attrs=read-write';

export interface ParsedDatabaseUrl {
  /** One URL for each host, in order. */
  readonly urls: readonly [string, ...string[]];
  readonly readWrite: boolean;
}

/** Undefined if the text is not a PostgreSQL URL, or names several hosts without target_session_attrs=read-write. */
export function parseDatabaseUrl(text: string): ParsedDatabaseUrl | undefined {
  const [, start, hosts, end] = PARTS.exec(text) ?? [];
  if (start === undefined || hosts === undefined || end === undefined) return undefined;
  const urls = hosts.split(',').map((host) => `${start}${host}${end}`);
  if (!urls.every((url) => URL.canParse(url))) return undefined;
  const attributes = new URL(urls[0] as string).searchParams.get(ATTRIBUTES);
  if (attributes !== null && attributes !== 'read-write') return undefined;
  if (attributes === null && urls.length > 1) return undefined;
  return { urls: urls as [string, ...string[]], readWrite: attributes !== null };
}

/** Finds the server that accepts writes. Tries all at once, so that unreachable ones cause no delay. Errors: ApiError 503. */
export async function findWritable(urls: readonly string[], timeoutMs: number): Promise<{ host: string; port: number }> {
  try {
    return await Promise.any(urls.map((url) => requireWritable(url, timeoutMs)));
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(({ message }: Error) => message);
    throw ApiError.unavailable(new Error(`no host of DATABASE_URL takes writes (${reasons.join('; ')})`));
  }
}

async function requireWritable(connectionString: string, timeoutMs: number): Promise<{ host: string; port: number }> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs, application_name: 'truckroll' });
  // Without a listener, losing the connection would end the process. Its statement has failed already.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    if (rows[0]?.transaction_read_only !== 'off') throw new Error('the server is read-only');
    return { host: client.host, port: client.port };
  } finally {
    client.end().catch(() => undefined);
  }
}
