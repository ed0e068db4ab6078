import { Connection, connectionConfig, execute, executeBinary } from './driver/connection.ts';
import type { BinaryRow, ConnectionOptions, Statement, StatementResult } from './statement.ts';
import { settleSession } from './connection-settings.ts';
import { PoolerError, translateDatabaseError } from './errors.ts';

/** A single connection outside the pool. */
export interface DatabaseSession {
  query<R = Record<string, unknown>>(statement: Statement): Promise<StatementResult<R>>;
  queryBinary(statement: Statement): Promise<BinaryRow[]>;
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
    throw error instanceof PoolerError ? error : translateDatabaseError(error);
  }
  return {
    ended,
    async query(statement) {
      try {
        const result = await execute(client, statement);
        return { rows: result.rows as never[], rowCount: result.rowCount ?? 0, command: result.command };
      } catch (error) {
        throw translateDatabaseError(error);
      }
    },
    async queryBinary(statement) {
      try {
        return (await executeBinary(client, statement)).map((row) => row.columns());
      } catch (error) {
        throw translateDatabaseError(error);
      }
    },
    onNotification(listener) {
      client.on('notification', ({ channel, payload }) => listener(payload ?? '', channel));
    },
    async close() {
      await client.end().catch(() => undefined);
    },
  };
}
