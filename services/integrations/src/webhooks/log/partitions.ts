// Partitions of the webhook log: one per UTC day, created when something of that day is stored and dropped after 30 days.
import { formatDate, now } from '@truckroll/contract';
import { isLockTimeout, type Database, type Queryable, type Transaction } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export const KEPT_DAYS = 30;
const DAY = 86_400_000_000;
const EVERY_MS = 3_600_000;
const TABLES = ['webhook_events', 'webhook_event_log', 'webhook_deliveries', 'webhook_attempts'];
/** Tables whose key lacks the company, so that only the whole row identifies it and its company to a replica (docs/adr/0025). */
const IDENTIFIED_BY_ROW = ['webhook_events', 'webhook_deliveries', 'webhook_attempts'];
/** Wait for a partition's lock in ms, in which the statements of others queue behind it. */
const LOCK_MS = 500;
/** Number of future days with partitions, so that no event waits for one at midnight. */
const AHEAD = 2;

/** The oldest day that is kept, such as `2026-03-01`. */
export function oldestDay(at = now()): string {
  return formatDate(Math.floor(at / DAY) - KEPT_DAYS);
}

export class Partitions implements BackgroundPart {
  readonly name = 'webhook log';
  readonly #database: Database;
  readonly #log: Logger;
  readonly #known = new Set<string>();
  readonly #tidying = new PeriodicTask(EVERY_MS, () => this.#tidy());

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** Creates missing partitions. Days must not be before `oldestDay`. */
  async ensure(days: Iterable<string>): Promise<void> {
    const missing = [...new Set(days)].filter((day) => !this.#known.has(day)).toSorted();
    if (missing.length === 0) return;
    await this.#database.transaction((tx) => makeDays(tx, missing));
    for (const day of missing) this.#known.add(day);
  }

  /** Sets the replica identity of partitions that an older release has created, except of those that are in use for long. */
  async identify(): Promise<void> {
    const { rows } = await this.#database.query<{ name: string }>({
      text: `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
        where p.relnamespace = current_schema()::regnamespace and p.relkind = 'p' and p.relname = any($1) and c.relreplident <> 'f' order by c.relname`,
      values: [IDENTIFIED_BY_ROW],
    });
    const locked: string[] = [];
    for (const { name } of rows) {
      try {
        await this.#database.transaction((tx) => identifyOne(tx, name));
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        locked.push(name);
      }
    }
    if (locked.length > 0) this.#log.warn({ locked }, 'parts of the webhook log were in use, so their replica identity was not set; trying again in an hour');
  }

  /** Drops partitions before `oldestDay`, and their deliveries in the queue; none while a company is frozen, because they have its rows too. */
  async drop(at = now()): Promise<string[]> {
    const oldest = oldestDay(at);
    return await this.#exclusively(async (tx) => {
      const { rows } = await tx.query<{ name: string }>({
        text: `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
          where p.relnamespace = current_schema()::regnamespace and p.relname = any($1)
            and substring(c.relname from '[0-9]+$') < $2 order by c.relname`,
        values: [TABLES, digits(oldest)],
      });
      if (rows.length === 0) return [];
      if ((await tx.query({ text: 'select from frozen_companies limit 1' })).rowCount > 0) {
        this.#log.info({ kept: rows.length }, 'old parts of the webhook log stay, because a company is frozen');
        return [];
      }
      await tx.query({ text: 'delete from webhook_queue where day < $1', values: [oldest] });
      for (const { name } of rows) await tx.query({ text: `drop table "${name}"` });
      this.#known.clear();
      return rows.map(({ name }) => name);
    });
  }

  async start(): Promise<void> {
    this.#tidying.start();
  }

  stop(): Promise<void> {
    return this.#tidying.stop();
  }

  async #tidy(): Promise<void> {
    try {
      const today = Math.floor(now() / DAY);
      await this.ensure(Array.from({ length: AHEAD + 1 }, (_, i) => formatDate(today + i)));
      const dropped = await this.drop();
      if (dropped.length > 0) this.#log.info({ dropped }, 'dropped old parts of the webhook log');
      await this.identify();
    } catch (error) {
      this.#log.warn({ error }, 'the webhook log was not tidied; trying again in an hour');
    }
  }

  /** Runs in one replica at a time; others wait. */
  async #exclusively<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.#database.transaction(async (tx) => {
      await tx.query(TURN);
      return await work(tx);
    });
  }
}

/** One replica at a time; others wait. */
const TURN = { text: `select pg_advisory_xact_lock(hashtextextended('webhook partitions of ' || current_schema(), 0))` };

/** Creates the missing partitions of days such as `2026-03-01`, in a transaction with the schema in its search path. */
export async function makeDays(tx: Queryable, days: readonly string[]): Promise<void> {
  await tx.query(TURN);
  const { rows } = await tx.query<{ name: string }>({
    text: `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relname ~ '^webhook_[a-z_]+_[0-9]+$'`,
  });
  const existing = new Set(rows.map(({ name }) => name));
  for (const day of days) {
    // An older release creates partitions of the tables that it knows.
    for (const table of TABLES.filter((each) => !existing.has(partition(each, day)))) {
      // `day` needs no quoting. Deliveries are updated once; free space in their page saves updating the indexes.
      const room = table === 'webhook_deliveries' ? ' with (fillfactor = 55)' : '';
      await tx.query({ text: `create table ${partition(table, day)} partition of ${table} for values from ('${day}') to ('${day}'::date + 1)${room}` });
      if (IDENTIFIED_BY_ROW.includes(table)) await tx.query({ text: `alter table ${partition(table, day)} replica identity full` });
    }
  }
}

/** Sets the replica identity of a partition, unless another replica has done so or has dropped it. */
async function identifyOne(tx: Transaction, name: string): Promise<void> {
  const { rowCount } = await tx.query({
    text: `select from pg_class where relnamespace = current_schema()::regnamespace and relname = $1 and relreplident <> 'f'`,
    values: [name],
  });
  if (rowCount === 0) return;
  await tx.query({ text: `set local lock_timeout = ${LOCK_MS}` });
  await tx.query({ text: `alter table if exists "${name}" replica identity full` });
}

function partition(table: string, day: string): string {
  return `${table}_${digits(day)}`;
}

function digits(day: string): string {
  return day.replaceAll('-', '');
}
