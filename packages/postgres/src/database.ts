import { SHED, FairQueue, handled } from '@truckroll/process';
import { ATTR_DB_QUERY_SUMMARY, ATTR_DB_SYSTEM_NAME, DB_SYSTEM_NAME_VALUE_POSTGRESQL, databaseDurations, withSpan, type Metrics } from '@truckroll/telemetry';
import pg from 'pg';
import { Connection, connectionConfig, execute, executeBinary, type Sending } from './driver/connection.ts';
import type { BinaryRow, ConnectionOptions, Queryable, Statement, StatementResult } from './statement.ts';
import { settle, transactionSettings } from './connection-settings.ts';
import { PoolerError, StatementError, isContention, isUnavailable, rethrow, translateDatabaseError } from './errors.ts';
import { Notifications } from './notifications.ts';
import { NO_COMPANY, RecentCompanies } from './recent-companies.ts';
import { createSession, type DatabaseSession } from './session.ts';

export interface DatabaseOptions extends ConnectionOptions {
  /** Maximum number of connections. Default 14. */
  readonly maxConnections?: number;
  /** Maximum number of calls waiting for a connection. Beyond it, the company with the most waiting calls gets a 429 for its newest. Default 100. */
  readonly maxWaiting?: number;
  readonly metrics?: Metrics;
}

export interface TransactionOptions {
  readonly isolation?: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
  readonly readOnly?: boolean;
  /** Retries once after a deadlock or serialization failure. Use it only if `work` has no effects outside the database. */
  readonly retryContention?: boolean;
  /** When aborted, no further statement runs and nothing is committed. */
  readonly signal?: AbortSignal;
}

export interface Transaction extends Queryable {
  /** Runs after the transaction has committed, not if it rolls back. Must not throw. */
  afterCommit(action: () => void): void;
  /** Notifies listeners of a channel, once per payload, after the commit. Notifications documents what a crash loses. */
  notify(channel: string, payloads?: readonly string[]): void;
  /** Sends the last statements with COMMIT in one round trip: all take effect or none. Resolves once committed. No statement may follow. */
  finish(statements: readonly Statement[]): Promise<StatementResult<unknown>[]>;
}

/** Access to a Database on behalf of one company, limited to that company's share of the connections. */
export interface CompanyDatabase extends Queryable {
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** Share of the connections that reads leave to transactions and vice versa, so that transactions waiting for locks never take the last one from reads. */
const RESERVED = 2 / 7;
/** Share of a kind's connections that one company may hold, so that others find one free. */
const SHARE = 0.8;
/** Concurrent transactions of a company while others are active. They soon wait for each other, at the latest for its number sequences, and slow others. */
const TRANSACTIONS_BESIDE = 1;

type Kind = 'read' | 'transaction';

/** Milliseconds that a call waits for its turn to take a connection. */
const MAX_WAIT_MS = 5000;
/** Maximum age of the last answer at which a busy pool counts as healthy. */
const BUSY_MS = 2000;

/** A pool of connections to a service's schema. Work for a company uses `of(companyId)` and queues in turn; the other methods are for the service itself. */
export class Database implements Queryable {
  readonly options: DatabaseOptions;
  readonly #pool: pg.Pool;
  /** Shares connections. A company has a flow for each kind, so that its transactions do not delay its reads. */
  readonly #queue: FairQueue;
  readonly #recent = new RecentCompanies();
  readonly #held: Record<Kind, number> = { read: 0, transaction: 0 };
  readonly #waiting: Record<Kind, number> = { read: 0, transaction: 0 };
  readonly #refused;
  readonly #observe: (statement: Statement, startedAt: number, error?: unknown) => void;
  /** Sent before the other statements of a transaction that may write. */
  readonly #settings: Statement | undefined;
  readonly #notifications = new Notifications(this);
  #answeredAt = -Infinity;
  #sessionRefused: PoolerError | undefined;

  constructor(options: DatabaseOptions) {
    this.options = options;
    const max = options.maxConnections ?? 14;
    const each = max - Math.floor(max * RESERVED);
    this.#refused = options.metrics?.counter('database_refused_total', 'Refused as too much of one company waited for a connection', ['kind']);
    this.#queue = new FairQueue({
      admits: (flow) => this.#queue.held < max && this.#held[kindOf(flow.name)] < each && flow.held < this.#mostOf(flow.name, each),
      queue: options.maxWaiting ?? 100,
      maxWaitMs: MAX_WAIT_MS,
      onHeld: (name, change) => (this.#held[kindOf(name)] += change),
      isExempt: (name) => companyOf(name) === NO_COMPANY,
    });
    this.#settings = transactionSettings(options);
    class Client extends Connection {
      // A constructor instead of pool options, because the URL is read again for each connection.
      constructor() {
        super(connectionConfig(options));
      }
    }
    this.#pool = new pg.Pool({
      max,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 2000,
      idleTimeoutMillis: 60_000,
      maxLifetimeSeconds: 1800,
      Client,
      // The pool awaits this, and drops a connection for which it rejects.
      onConnect: ((client: Connection) => settle(client, options)) as unknown as (client: pg.ClientBase) => void,
    });
    // An idle connection was lost. The pool has dropped it already, and opens another when needed.
    this.#pool.on('error', () => undefined);
    this.#observe = observer(options.metrics);
    if (options.metrics !== undefined) watch(options.metrics, this.#pool, this.#waiting);
  }

  /** For all work on behalf of a company. Errors: as below, and ApiError 429 if too many of its calls wait. */
  of(companyId: string): CompanyDatabase {
    return {
      query: <R>(statement: Statement) => this.#read(companyId, statement, execute<R>),
      queryBinary: (statement) => this.#read(companyId, statement, executeBinary),
      transaction: (work, options = {}) => this.#transact(companyId, work, options),
    };
  }

  query<R = Record<string, unknown>>(statement: Statement): Promise<StatementResult<R>> {
    return this.#read(NO_COMPANY, statement, execute<R>);
  }

  queryBinary(statement: Statement): Promise<BinaryRow[]> {
    return this.#read(NO_COMPANY, statement, executeBinary);
  }

  /** Rolls back if `work` rejects. If the answer to COMMIT is lost, rejects with 503 although it may have happened: writers need an idempotency key. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transact(NO_COMPANY, work, options);
  }

  /** Opens a connection outside the pool for session-level state such as advisory locks. Errors: as createSession. */
  async session(): Promise<DatabaseSession> {
    try {
      const session = await createSession(this.options);
      this.#sessionRefused = undefined;
      return session;
    } catch (error) {
      if (error instanceof PoolerError) this.#sessionRefused = error;
      throw error;
    }
  }

  /** A readiness check. Throws PoolerError if a pooler would not have kept the last session. */
  checkSession(): void {
    if (this.#sessionRefused !== undefined) throw this.#sessionRefused;
  }

  /** Readiness check. A busy pool that gets answers counts as healthy: removing a loaded replica would only load the others. */
  async check(): Promise<void> {
    if (this.#pool.waitingCount + this.#queue.waiting > 0 && performance.now() - this.#answeredAt < BUSY_MS) return;
    await this.query({ text: 'select 1' });
  }

  /** Waits for running statements, then closes all connections. Further statements reject with 503. */
  async close(): Promise<void> {
    await this.#notifications.close();
    if (!this.#pool.ending) await this.#pool.end();
  }

  #read<T>(companyId: string, statement: Statement, how: Run<T>): Promise<T> {
    return this.#inTurn('read', companyId, () => this.#once(statement, how));
  }

  #transact<T>(companyId: string, work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.#inTurn('transaction', companyId, async () => {
      try {
        return await this.#attempt(work, options);
      } catch (error) {
        if (!options.retryContention || !isContention(error)) throw error;
        return await this.#attempt(work, options);
      }
    });
  }

  async #inTurn<T>(kind: Kind, companyId: string, work: () => Promise<T>): Promise<T> {
    this.#recent.note(companyId);
    const name = flowName(kind, companyId);
    try {
      const turn = this.#queue.enter(name);
      if (turn !== undefined) {
        this.#waiting[kind] += 1;
        await turn.finally(() => (this.#waiting[kind] -= 1));
      }
    } catch (error) {
      if (error === SHED) this.#refused?.inc({ kind });
      throw error;
    }
    try {
      return await work();
    } finally {
      this.#queue.leave(name);
    }
  }

  #mostOf(name: string, each: number): number {
    const company = companyOf(name);
    if (company === NO_COMPANY) return each;
    if (kindOf(name) === 'transaction' && this.#recent.isAnyBut(company)) return TRANSACTIONS_BESIDE;
    return Math.max(1, Math.floor(each * SHARE));
  }

  #once<T>(statement: Statement, how: Run<T>): Promise<T> {
    return spanned(
      statement,
      () =>
        new Promise((resolve, reject) => {
          this.#pool.connect((connectError, client, release) => {
            if (connectError || client === undefined) return reject(translateDatabaseError(connectError));
            const startedAt = performance.now();
            how(client, statement).then(
              (result) => {
                release();
                this.#answeredAt = performance.now();
                this.#observe(statement, startedAt);
                resolve(result);
              },
              (thrown: unknown) => {
                const error = translateDatabaseError(thrown);
                this.#observe(statement, startedAt, error);
                release(mustDiscard(error));
                reject(error);
              },
            );
          });
        }),
    );
  }

  async #attempt<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<T> {
    const client = await this.#pool.connect().catch(rethrow);
    const actions: (() => void)[] = [];
    let open = true;
    let finished: Promise<StatementResult<unknown>[]> | undefined;
    // Pipelined statements refused only as a consequence may reject before the statement that failed: keeps its error to report instead.
    let reason: Error | undefined;
    const runOne = async <R>(statement: Statement, how: Run<R>): Promise<R> => {
      options.signal?.throwIfAborted();
      const startedAt = performance.now();
      try {
        const result = await spanned(statement, () => how(client, statement, 'pipelined'));
        this.#observe(statement, startedAt);
        return result;
      } catch (thrown) {
        const error = translateDatabaseError(thrown);
        this.#observe(statement, startedAt, error);
        const follows = error instanceof StatementError && error.sqlState === '25P02';
        if (!follows) reason = error;
        throw follows && reason !== undefined ? reason : error;
      }
    };
    const given = async <R>(statement: Statement, how: Run<R>): Promise<R> => {
      if (!open || finished !== undefined) throw new Error('a statement was run after its transaction had ended');
      return runOne(statement, how);
    };
    const commit = async (): Promise<void> => {
      const end = await runOne(COMMIT, execute);
      if (end.command !== 'COMMIT') throw new Error('a transaction was committed although one of its statements had failed');
    };
    let discard = false;
    try {
      // Not awaited: they share a round trip with the first statement. If they fail, so does everything after them.
      const settings = options.readOnly || this.#settings === undefined ? [] : [this.#settings];
      const begun = handled(Promise.all([beginning(options), ...settings].map((statement) => runOne(statement, execute))));
      const result = await work({
        query: <R>(statement: Statement) => given(statement, execute<R>),
        queryBinary: (statement) => given(statement, executeBinary),
        afterCommit: (action) => actions.push(action),
        notify: (channel, payloads = ['']) => actions.push(() => this.#notifications.send(channel, payloads)),
        finish: async (statements) => {
          // After a failed statement PostgreSQL answers COMMIT with ROLLBACK; the statement's own error rejects first here.
          const all = Promise.all([...statements.map((statement) => given(statement, execute)), commit()]);
          finished = all.then((answers) => answers.slice(0, -1) as StatementResult<unknown>[]);
          return finished;
        },
      });
      await begun;
      await (finished ?? commit());
      open = false;
      release();
      for (const action of actions) action();
      return result;
    } catch (error) {
      if (open) {
        open = false;
        discard = mustDiscard(error) || !(await rolledBack(client));
        release();
      }
      throw error;
    }

    function release(): void {
      client.release(discard);
    }
  }
}

function rolledBack(client: pg.PoolClient): Promise<boolean> {
  return execute(client, { text: 'rollback' }, 'pipelined').then(
    () => true,
    () => false,
  );
}

const COMMIT: Statement = { name: 'commit', text: 'commit' };

function beginning(options: TransactionOptions): Statement {
  const isolation = options.isolation === undefined ? '' : ` isolation level ${options.isolation}`;
  const text = `begin${isolation}${options.readOnly ? ' read only' : ''}`;
  return { name: text, text };
}

const KINDS: Readonly<Record<string, Kind>> = { r: 'read', t: 'transaction' };
const flowName = (kind: Kind, companyId: string): string => (kind === 'read' ? 'r' : 't') + companyId;
const kindOf = (flow: string): Kind => KINDS[flow.charAt(0)] as Kind;
const companyOf = (flow: string): string => flow.slice(1);

type Run<T> = (client: pg.ClientBase, statement: Statement, how?: Sending) => Promise<T>;

/** Statement and lock timeouts leave the connection usable; so does a refused statement, unless its cached plan is stale. */
function mustDiscard(error: unknown): boolean {
  if (error instanceof StatementError) return error.sqlState === '0A000';
  if (!isUnavailable(error)) return false;
  const state = ((error as Error).cause as { code?: string } | undefined)?.code;
  return state !== '57014' && state !== '55P03';
}

const labelOf = ({ label, name }: Statement): string => label ?? name ?? 'unnamed';

function spanned<T>(statement: Statement, work: () => Promise<T>): Promise<T> {
  const label = labelOf(statement);
  return withSpan(`sql ${label}`, 'CLIENT', { [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL, [ATTR_DB_QUERY_SUMMARY]: label }, work);
}

function watch(metrics: Metrics, pool: pg.Pool, waiting: Readonly<Record<Kind, number>>): void {
  metrics.observedGauge('database_connections', 'Open connections of the pool', () => pool.totalCount);
  metrics.observedGauge('database_reads_waiting', 'Single statements that wait for a connection', () => waiting.read);
  metrics.observedGauge('database_transactions_waiting', 'Transactions that wait for a connection', () => waiting.transaction);
}

function observer(metrics: Metrics | undefined): (statement: Statement, startedAt: number, error?: unknown) => void {
  const operations = databaseDurations(metrics);
  return (statement, startedAt, error) => {
    const type = error === undefined ? '' : error instanceof StatementError ? error.sqlState : 'unavailable';
    operations.ended(startedAt, 'postgresql', labelOf(statement), type);
  };
}
