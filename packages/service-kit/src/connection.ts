import type { Writable } from 'node:stream';
import pg from 'pg';
import { readBinaryRows } from './binary-rows.ts';
import { typeParsers } from './database-types.ts';

/** One statement. A named one is planned once per connection; text must be constant for a name. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface StatementResult<R> {
  readonly rows: R[];
  /** Rows returned or changed. */
  readonly rowCount: number;
  /** First word of the command tag: SELECT, COMMIT, ROLLBACK … */
  readonly command: string;
}

/** Columns in PostgreSQL's binary format, in the order of the statement. Copy what must outlive the request. */
export type BinaryRow = readonly (Buffer | null)[];

export interface ConnectionOptions {
  readonly url: string;
  /** First on the search path; statements name tables without schema. */
  readonly schema?: string;
  readonly applicationName?: string;
  /** Milliseconds, kept by the server; the client gives up a second later. 0 = none. Default 15,000. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds to wait for a free or new connection. Default 2,000. */
  readonly connectTimeoutMs?: number;
  /** Further session settings, such as plan_cache_mode. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * A connection of pg that reads binary rows and sends statements without waiting for the answers to earlier ones
 * (pipelining), so that BEGIN and the first statement share a round trip.
 */
export class Connection extends pg.Client {
  /** After so many milliseconds without an answer the connection counts as lost; 0 = never. */
  readonly giveUpMs: number;

  constructor({ query_timeout: giveUpMs, ...config }: pg.ClientConfig) {
    super({ ...config, pipeline: true });
    this.giveUpMs = typeof giveUpMs === 'number' ? giveUpMs : 0;
    readBinaryRows((this as unknown as { connection: Parameters<typeof readBinaryRows>[0] }).connection);
    // Without a listener the loss of a connection would end the process. The statements that ran on it have failed.
    this.on('error', () => undefined);
  }
}

export function connectionConfig(options: ConnectionOptions): pg.PoolConfig {
  const statementTimeout = options.statementTimeoutMs ?? 15_000;
  const settings: Record<string, string> = {
    TimeZone: 'UTC',
    // Compiling a plan costs more than it saves on statements that take a millisecond.
    jit: 'off',
    ...(options.schema === undefined ? {} : { search_path: `"${options.schema}"` }),
    ...options.settings,
  };
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'truckroll',
    options: Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`).join(' '),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 2000,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    types: typeParsers,
    ...(statementTimeout > 0 ? { statement_timeout: statementTimeout, query_timeout: statementTimeout + 1000 } : {}),
  };
}

const rawTypes = { getTypeParser: () => (value: unknown) => value };

/** Statements that are sent before anything is waited for leave in one system call, which costs more than they do. */
function gather(stream: Writable): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/**
 * Runs one statement on a connection; rejects with pg's own error. The query is made here, with its callback: pg assigns
 * functions to `query.callback` otherwise, also for its own query_timeout, and V8 puts functions that are written down
 * as assigned to a property where only a full collection finds them. Each would keep its answer until then, which took
 * half of the time of a read (loadtest/reads.ts).
 */
export function execute(client: pg.ClientBase, statement: Statement, binary: boolean): Promise<pg.QueryResult> {
  const { giveUpMs, connection: { stream } } = client as unknown as Connection & { connection: { stream: Writable } };
  gather(stream);
  return new Promise((resolve, reject) => {
    // Answers come in order: behind one that does not come, nothing else will.
    const late = giveUpMs > 0 ? setTimeout(() => stream.destroy(), giveUpMs) : undefined;
    const config = {
      text: statement.text,
      values: statement.values ?? [],
      ...(statement.name === undefined ? {} : { name: statement.name }),
      ...(binary ? { binary: true, queryMode: 'extended', rowMode: 'array', types: rawTypes } : {}),
      callback: (error: Error | null, result: pg.QueryResult) => {
        clearTimeout(late);
        if (error) reject(error);
        else resolve(result);
      },
    };
    client.query(new pg.Query(config as unknown as pg.QueryConfig));
  });
}
