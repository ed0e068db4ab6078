// A slot of logical replication, and the snapshot of the moment from which it follows.
import { Connection, connectionConfig, execute } from './driver/connection.ts';
import { rethrow } from './errors.ts';
import type { ConnectionOptions } from './statement.ts';

export interface SlotSnapshot {
  /** For `set transaction snapshot`, until it is closed. */
  readonly name: string;
  close(): Promise<void>;
}

/** Waits until every older transaction that has written has ended. Errors: StatementError, ApiError 503. */
export async function createSlot(options: ConnectionOptions, slot: string): Promise<SlotSnapshot> {
  const config = { ...connectionConfig({ ...options, statementTimeoutMs: 0 }), replication: 'database' };
  const client = new Connection(config);
  const close = async (): Promise<void> => void (await client.end().catch(() => undefined));
  try {
    await client.connect();
    const { rows } = await execute<{ snapshot_name: string }>(client, {
      text: `CREATE_REPLICATION_SLOT "${slot}" LOGICAL pgoutput (SNAPSHOT 'export')`,
    });
    return { name: rows[0]!.snapshot_name, close };
  } catch (error) {
    await close();
    return rethrow(error);
  }
}
