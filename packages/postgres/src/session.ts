import { Connection, connectionConfig, execute, executeBinary } from './driver/connection.ts';
import type { ConnectionOptions, Queryable } from './statement.ts';
import { settleSession } from './connection-settings.ts';
import { PoolerError, rethrow } from './errors.ts';

/** A single connection outside the pool. */
export interface DatabaseSession extends Queryable {
  /** Called with the payload of each notification on a channel that `listen` was run for. */
  onNotification(listener: (payload: string, channel: string) => void): void;
  /** Resolves when the connection has ended, for whatever reason, which releases session locks. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Opens a session. Errors: ApiError 503 if PostgreSQL is unreachable, PoolerError if a pooler does not keep sessions. */
export async function createSession({ sessionUrl, ...rest }: ConnectionOptions): Promise<DatabaseSession> {
  const options = { ...rest, url: sessionUrl ?? rest.url };
  const client = new Connection(connectionConfig(options));
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  try {
    await client.connect();
    await settleSession(client, options);
  } catch (error) {
    client.end().catch(() => undefined);
    if (error instanceof PoolerError) throw error;
    rethrow(error);
  }
  return {
    ended,
    query: (statement) => execute<never>(client, statement).catch(rethrow),
    queryBinary: (statement) => executeBinary(client, statement).catch(rethrow),
    onNotification(listener) {
      client.on('notification', ({ channel, payload }) => listener(payload ?? '', channel));
    },
    async close() {
      await client.end().catch(() => undefined);
    },
  };
}
