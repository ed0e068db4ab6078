// Fault: pg connects to one host; it knows neither a list of hosts nor target_session_attrs.
// Upstream: brianc/node-postgres#2781 (issue, open), brianc/node-postgres#3643 (pull request, open).
// Ends: with a version of pg that includes #3643, or the like.
import { ApiError } from '@truckroll/contract';
import pg from 'pg';

/** Finds the server that accepts writes. Tries all at once, so that unreachable ones cause no delay. Errors: ApiError 503. */
export async function findWritable(urls: readonly string[], timeoutMs: number): Promise<{ host: string; port: number }> {
  try {
    return await Promise.any(urls.map((url) => requireWritable(url, timeoutMs)));
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(({ message }: Error) => message);
    throw ApiError.unavailable(new Error(`no host of DATABASE_URL accepts writes (${reasons.join('; ')})`));
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
