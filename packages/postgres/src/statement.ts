import type { DatabaseUrl } from './database-url.ts';

/** One statement. If it is named, it is planned once per connection, and its text must not vary. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Name in metrics and traces. Default: `name`. For statements whose text depends on what callers send. */
  readonly label?: string;
}

export interface StatementResult<R> {
  readonly rows: R[];
  readonly rowCount: number;
  /** First word of the command tag: SELECT, COMMIT, ROLLBACK … */
  readonly command: string;
}

/** Columns in PostgreSQL's binary format, in the order of the statement. Copy what must outlive the request. */
export type BinaryRow = readonly (Buffer | null)[];

/** Runs statements: a Database (each on any connection), a Transaction or a DatabaseSession. */
export interface Queryable {
  /** Errors: StatementError if PostgreSQL refuses, ApiError 503 if it cannot be used now. */
  query<R = Record<string, unknown>>(statement: Statement): Promise<StatementResult<R>>;
  /** Like query, with columns as raw bytes in PostgreSQL's binary format: for stored documents on the read path. */
  queryBinary(statement: Statement): Promise<BinaryRow[]>;
}

export interface ConnectionOptions {
  /** If it is a function, it is called for each new connection. */
  readonly url: DatabaseUrl;
  /** URL for sessions: session-level advisory locks, LISTEN, migrations. Default: `url`. */
  readonly sessionUrl?: DatabaseUrl | undefined;
  /** First schema of the search path; statements name tables without a schema. */
  readonly schema?: string;
  readonly applicationName?: string;
  /** Milliseconds, enforced by the server; the client gives up a second later. 0 = none. Default 15,000. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds to wait for a free or new connection. Default 2,000. */
  readonly connectTimeoutMs?: number;
  /** More settings, such as plan_cache_mode. Truckroll's own, `truckroll.…`, are set by each transaction that may write. */
  readonly settings?: Readonly<Record<string, string>>;
}
