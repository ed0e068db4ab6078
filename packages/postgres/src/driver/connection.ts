// Fault: pg never closes prepared statements, describes the columns of each on every use, and keeps a closure of each answer until a full
// collection.
// Upstream: brianc/node-postgres#1889 (issue, open) about closing; no upstream issue known about the others.
// Ends: with a version of pg that limits prepared statements and keeps their descriptions.
import type { Writable } from 'node:stream';
import pg from 'pg';
import { readBinaryRows, type RowConnection } from './binary-rows.ts';
import { typeParsers } from '../type-parsers.ts';
import { sendLargeValues, type BindingConnection } from './large-values.ts';
import { parseDatabaseUrl } from '../database-url.ts';
import type { BinaryRow, ConnectionOptions, Statement, StatementResult } from '../statement.ts';
import { findWritable } from './writable-host.ts';
import { sharedSyncs, type SharingQuery } from './shared-sync.ts';

/** A pg connection that reads binary rows and pipelines statements, so that BEGIN and the first statement share a round trip. */
export class Connection extends pg.Client {
  /** Milliseconds without an answer after which the connection counts as lost; 0 = never. */
  readonly giveUpMs: number;
  readonly prepared = new Set<string>();
  readonly sendPipelined: (query: Query) => void;

  readonly #candidates: readonly string[] | undefined;
  readonly #connectTimeoutMs: number;

  constructor({ query_timeout: giveUpMs, candidates, ...config }: ConnectionConfig) {
    super({ ...config, pipeline: true });
    this.#candidates = candidates;
    this.#connectTimeoutMs = config.connectionTimeoutMillis ?? 0;
    this.giveUpMs = typeof giveUpMs === 'number' ? giveUpMs : 0;
    const { connection } = this as unknown as { connection: ProtocolConnection };
    const active = this as unknown as { _getActiveQuery(): unknown };
    if (typeof active._getActiveQuery !== 'function') throw new Error('this version of pg has no client._getActiveQuery');
    readBinaryRows(connection, () => {
      const query = active._getActiveQuery();
      return query instanceof BinaryQuery ? query.binaryRows : undefined;
    });
    const describe = connection.describe.bind(connection);
    connection.describe = (message) => {
      if (connection.columnsKnown !== true) describe(message);
    };
    sendLargeValues(connection);
    this.sendPipelined = sharedSyncs<Query>(this, (queries) =>
      makeRoom(
        this as unknown as Preparing,
        queries.flatMap(({ name }) => name ?? []),
      ),
    );
    // Without a listener, losing the connection would end the process. Its statements have failed already.
    this.on('error', () => undefined);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    const connected = this.#findServer().then(() => super.connect());
    if (callback === undefined) return connected;
    connected.then(() => callback(undefined as unknown as Error), callback);
  }

  async #findServer(): Promise<void> {
    if (this.#candidates !== undefined) Object.assign(this, await findWritable(this.#candidates, this.#connectTimeoutMs));
  }
}

export interface ConnectionConfig extends pg.ClientConfig {
  /** URLs of the servers to choose from, if the connection must accept writes. */
  readonly candidates?: readonly string[];
}

/** pg's settings for one connection. Reads a `url` that is a function again each time, because its file may have changed. */
export function connectionConfig({ url, applicationName, statementTimeoutMs = 15_000, connectTimeoutMs = 2000 }: ConnectionOptions): ConnectionConfig {
  const text = typeof url === 'string' ? url : url();
  const { urls, readWrite } = parseDatabaseUrl(text) ?? { urls: [text], readWrite: false };
  return {
    connectionString: urls[0],
    ...(readWrite ? { candidates: urls } : {}),
    application_name: applicationName ?? 'truckroll',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: typeParsers,
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + 1000 } : {}),
  };
}

/** Sends the statements of a tick in one system call, because a system call costs more than they do. */
function sendWithTick(stream: Writable): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Maximum prepared statements per connection; the least recently used are closed. Each uses memory in PostgreSQL, and filter combinations are endless. */
export const MOST_PREPARED = 250;

interface Preparing {
  /** Names in order of last use. */
  prepared: Set<string>;
  readonly connection: Pick<ProtocolConnection, 'parsedStatements' | 'columnsByName' | 'close'>;
}

interface ProtocolConnection extends RowConnection, BindingConnection {
  parsedStatements: Record<string, string>;
  describe(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  /** True while sending a statement whose columns need no description. */
  columnsKnown?: boolean;
  /** Column descriptions of named statements that have run; null if they return no rows. */
  columnsByName?: Map<string, object | null>;
}

function makeRoom({ prepared, connection }: Preparing, names: readonly string[]): void {
  for (const name of names) {
    prepared.delete(name);
    prepared.add(name);
  }
  while (prepared.size > MOST_PREPARED) {
    const oldest = prepared.values().next().value as string;
    prepared.delete(oldest);
    delete connection.parsedStatements[oldest];
    connection.columnsByName?.delete(oldest);
    // Sends Close before anything that could fail: after an error PostgreSQL skips messages up to the next Sync.
    connection.close({ type: 'S', name: oldest });
  }
}

type Answered = (error: Error | null, result: pg.QueryResult) => void;

/** The part of pg.Query that is used here. Takes a text, because pg copies a configuration property by property. */
interface PgQuery extends Omit<pg.Query, 'submit'> {
  name: string | undefined;
  queryMode?: 'extended';
  binary?: boolean;
  prepare(connection: ProtocolConnection): void;
  handleRowDescription(columns: object): void;
  handleCommandComplete(message: object, connection: ProtocolConnection): void;
  submit(connection: ProtocolConnection): Error | null;
  handleError(error: Error, connection: object): void;
  requiresPreparation(): boolean;
}
const PgQuery = pg.Query as unknown as new (text: string, values: readonly unknown[], callback: Answered) => PgQuery;

/** A statement that records whether pg refused to send it, because of its name or values it cannot encode. */
class Query extends PgQuery implements SharingQuery {
  sharesSync = false;
  unsent = false;
  #sending = false;

  override submit(connection: ProtocolConnection): Error | null {
    this.#sending = true;
    const refusal = super.submit(connection);
    this.#sending = false;
    if (refusal !== null) this.unsent = true;
    return refusal;
  }

  override handleError(error: Error, connection: object): void {
    if (this.#sending) this.unsent = true;
    super.handleError(error, connection);
  }
}

function sendUndescribed(connection: ProtocolConnection, send: () => void): void {
  connection.columnsKnown = true;
  try {
    send();
  } finally {
    connection.columnsKnown = false;
  }
}

/** Its rows become objects. A named statement is described only once: PostgreSQL refuses to run it after its columns have changed (0A000). */
class TextQuery extends Query {
  #connection: ProtocolConnection | undefined;
  #columns: object | null = null;

  override prepare(connection: ProtocolConnection): void {
    const { name } = this;
    const known = name === undefined || connection.parsedStatements[name] === undefined ? undefined : connection.columnsByName?.get(name);
    if (known === undefined) {
      this.#connection = connection;
      super.prepare(connection);
    } else {
      sendUndescribed(connection, () => super.prepare(connection));
      if (known !== null) super.handleRowDescription(known);
    }
  }

  override handleRowDescription(columns: object): void {
    this.#columns = columns;
    super.handleRowDescription(columns);
  }

  override handleCommandComplete(message: object, connection: ProtocolConnection): void {
    if (this.name !== undefined && this.#connection !== undefined) (connection.columnsByName ??= new Map()).set(this.name, this.#columns);
    super.handleCommandComplete(message, connection);
  }
}

/** Its rows stay as sent (see readBinaryRows). Columns are never described: PostgreSQL would look up every type and send more than many rows take. */
class BinaryQuery extends Query {
  readonly binaryRows: BinaryRow[] = [];

  constructor(text: string, values: readonly unknown[], callback: Answered) {
    super(text, values, callback);
    this.queryMode = 'extended';
    this.binary = true;
  }

  override prepare(connection: ProtocolConnection): void {
    sendUndescribed(connection, () => super.prepare(connection));
  }
}

/**
 * Runs one statement on a connection; rejects with pg's own error. Passes the callback to the query's constructor: otherwise pg assigns
 * a closure to `query.callback`, and V8 allocates closures assigned to a property where only a full collection frees them. Each would
 * retain its answer until then, which took half of a read's time (loadtest/reads.ts).
 */
export function execute<R>(client: pg.ClientBase, statement: Statement, how: Sending = 'at once'): Promise<StatementResult<R>> {
  return sent(client, statement, how, TextQuery, (_, { rows, rowCount, command }) => ({ rows: rows as R[], rowCount: rowCount ?? 0, command }));
}

/** Like `execute`, with rows as PostgreSQL sends them in its binary format. */
export function executeBinary(client: pg.ClientBase, statement: Statement, how: Sending = 'at once'): Promise<BinaryRow[]> {
  return sent(client, statement, how, BinaryQuery, ({ binaryRows }) => binaryRows);
}

/** `pipelined`: required for statements of an explicit transaction, forbidden outside one. See shared-sync.ts. */
export type Sending = 'at once' | 'pipelined';

type Kind<Q extends Query> = new (text: string, values: readonly unknown[], callback: Answered) => Q;

function sent<Q extends Query, T>(
  client: pg.ClientBase,
  statement: Statement,
  how: Sending,
  OfKind: Kind<Q>,
  resultOf: (query: Q, result: pg.QueryResult) => T,
): Promise<T> {
  const {
    giveUpMs,
    sendPipelined,
    connection: { stream },
  } = client as unknown as Connection & { connection: { stream: Writable } };
  return new Promise((resolve, reject) => {
    // Answers arrive in order: if one does not come, none of the later ones will.
    const late = giveUpMs > 0 ? setTimeout(() => stream.destroy(), giveUpMs) : undefined;
    const answered: Answered = (error, result) => {
      clearTimeout(late);
      if (error) reject(error);
      else resolve(resultOf(query, result));
    };
    const query = new OfKind(statement.text, statement.values ?? [], answered);
    query.name = statement.name;
    if (how === 'pipelined') return sendPipelined(query);
    sendWithTick(stream);
    if (statement.name !== undefined) makeRoom(client as unknown as Preparing, [statement.name]);
    client.query(query as unknown as pg.Query);
  });
}
