// Finds which changes may be read, those of transactions below the lowest one that is still active, and the time up to which they are complete.
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { SHIFT_COLUMNS, VERSIONS_OF_EPOCH, shownMoment, transactionsBy, type CompanyMoment, type MaybeShift, type Moment } from './moment.ts';

/** The oldest transaction that has written. `state` and `seconds` are null if the service's role may not see them. */
interface Holder {
  readonly pid: number | null;
  /** Name of a prepared transaction. */
  readonly gid: string | null;
  readonly database: string;
  readonly application: string;
  readonly state: string | null;
  readonly seconds: number | null;
}

interface Sample {
  /** The first transaction id that had not been assigned. */
  readonly next: number;
  readonly at: number;
}

interface Transactions {
  readonly oldest: number;
  readonly next: number;
  readonly epoch: number;
  readonly at: number;
}

/** SQL: columns of Transactions, of `pg_current_snapshot() s`. */
const TRANSACTIONS = `${transactionsBy('outbox_id_seq')}, (extract(epoch from statement_timestamp()) * 1000000)::bigint as at`;

const EVERY_MS = 2000;
/** Minimum interval between samples in microseconds, so that those of a long transaction need little memory. */
const SAMPLED_EVERY = 100_000;
/** Age of the readable moment in seconds above which the log names the transaction that holds it back. */
const LATE_SECONDS = 5;

export class ChangeClock {
  readonly #database: Database;
  readonly #log: Logger;
  #samples: Sample[] = [];
  #asOf = 0;
  /** The highest id below which all transactions are known to have ended. */
  #oldest = 0;
  /** Microseconds. */
  readonly #startedAt = Date.now() * 1000;
  readonly part: BackgroundPart = new PeriodicTask(
    EVERY_MS,
    () => this.#tick(),
    (error, failures) => logOutage(this.#log, 'the change feed cannot read the state of transactions', failures, error),
  ).asPart('change clock');
  readonly #holders;

  constructor(database: Database, log: Logger, metrics: Metrics) {
    this.#database = database;
    this.#log = log;
    metrics.observedGauge('change_feed_delay_seconds', 'Time since the moment up to which the change feed is complete', () => this.#behindSeconds());
    this.#holders = metrics.counter('change_feed_held_back_total', 'Seconds in which a transaction held back the change feed, by its application', [
      'application',
    ]);
  }

  /** With the epoch and the versions that are stored. */
  async now(): Promise<Moment> {
    const { rows } = await this.#database.query<Transactions>({
      name: 'change_moment',
      text: `select ${TRANSACTIONS} from pg_current_snapshot() s`,
    });
    return this.#momentOf(rows[0] as Transactions);
  }

  /** The company is shown this epoch and these versions. */
  async of(companyId: string): Promise<CompanyMoment> {
    const { rows } = await this.#database.query<Transactions & MaybeShift>({
      name: 'change_moment_of_company',
      text: `select ${TRANSACTIONS}, ${SHIFT_COLUMNS} from pg_current_snapshot() s left join shifts h on h.company_id = $1`,
      values: [companyId],
    });
    const row = rows[0] as Transactions & MaybeShift;
    return shownMoment(this.#momentOf(row), row);
  }

  #momentOf({ oldest, next, epoch, at }: Transactions): Moment {
    // Nothing is open: no earlier sample is needed.
    if (next <= oldest) this.#samples = [{ next, at }];
    else if (at - (this.#samples.at(-1)?.at ?? 0) >= SAMPLED_EVERY) this.#samples.push({ next, at });
    // Answers may arrive in another order than their snapshots were taken. An earlier snapshot must not come with a later time.
    this.#oldest = Math.max(this.#oldest, oldest);
    const readable = this.#samples.findLastIndex((sample) => sample.next <= this.#oldest);
    if (readable >= 0) {
      this.#asOf = Math.max(this.#asOf, (this.#samples[readable] as Sample).at);
      this.#samples = this.#samples.slice(readable);
    }
    return { epoch, below: epoch * VERSIONS_OF_EPOCH + this.#oldest, asOf: this.#asOf };
  }

  async #tick(): Promise<void> {
    await this.now();
    if (this.#behindSeconds() > LATE_SECONDS) await this.#nameHolder();
  }

  #behindSeconds(): number {
    return Math.max(0, Date.now() / 1000 - Math.max(this.#startedAt, this.#asOf) / 1e6);
  }

  /** Transaction ids belong to the server, so the holder may be in any of its databases. */
  async #nameHolder(): Promise<void> {
    const { rows } = await this.#database.query<Holder>({
      text: `select pid, gid, database, application, state, seconds from (
          select pid, null as gid, datname as database, application_name as application, state,
            extract(epoch from now() - xact_start)::int as seconds, backend_xid as id
          from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
          union all
          select null, gid, database, 'prepared transaction', null, extract(epoch from now() - prepared)::int, transaction from pg_prepared_xacts
        ) open order by age(id) desc limit 1`,
    });
    const [holder] = rows;
    if (holder === undefined) return;
    this.#holders.inc({ application: holder.application }, EVERY_MS / 1000);
    this.#log.warn({ ...holder }, 'an open transaction holds back the change feed: commit it or roll it back');
  }
}
