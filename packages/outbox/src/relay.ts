import { watermarkSources } from '@truckroll/contract';
import { binaryArrays, type Database, type DatabaseSession } from '@truckroll/postgres';
import { Notifier, backoffMs, handled, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import { kafkaDurations, type Logger, type Metrics } from '@truckroll/telemetry';
import type { OutboxRow } from './event.ts';
import { Floor } from './floor.ts';
import { isTooLarge, type Publisher } from './publisher.ts';
import { BATCH_ROWS, READ_BATCH, readRow, type ReadRow } from './read-batch.ts';

export interface RelayOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  /** As in OutboxOptions. */
  readonly complete?: (session: Pick<DatabaseSession, 'query'>) => Promise<boolean>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Longest time between polls and between watermarks of an idle relay, in ms, unless it is notified. Default: POLL and ANNOUNCE. */
  readonly restMs?: number;
}

/** Poll intervals for an empty outbox, in ms. Polling finds rows of dead replicas and old releases, which do not notify. */
const POLL = { first: 40, most: 6000 };
/** Delay before a standby notifies the active relay, in ms: pokes in that time share one notification. */
const NOTIFY_MS = 20;
/** Pause after a batch that was not full: its duration squared ÷ `atRestMs`. A batch costs as much as thirty events, so busy times share batches. */
const UNFULL_PAUSE = { atRestMs: 5, mostMs: 20 };
/**
 * Intervals between watermarks, in ms:
 * - `busy` while this relay publishes events;
 * - `following` while another owner does, because its events count in reports only once all owners have published a later watermark;
 * - `idle` while no owner does, and `rest` after REST_AFTER_MS if this relay is notified of all other owners' events. Owners then publish
 *   at multiples of the interval, so that consumers wake up once for all.
 */
const ANNOUNCE = { busy: 200, following: 500, idle: 2000, rest: 6000 };
const REST_AFTER_MS = 60_000;
/** Delay before a watermark that could not be published is tried again, in ms. */
const AGAIN_MS = 100;
/** Time for which an owner that announced new events counts as busy, in ms. */
const NEWS_MS = 2000;
const STANDBY_POLL_MS = 500;
const MEASURE_MS = 5000;
/** Limit of the row count in metrics: a larger backlog is reported as this number. */
const MOST_COUNTED = 100_000;

const channelOf = (schema: string): string => `${schema}_outbox`;
/** Channel on which the relays of one database announce new events. Relays of other databases do not receive it. */
const NEWS_CHANNEL = 'truckroll_outbox_news';
/** Channel on which a relay that becomes active, and the relays that answer it, announce their schemas, so that they know of each other. */
const GREETING_CHANNEL = 'truckroll_outbox_relays';

/** Text that is hashed into the id of the advisory lock held by a schema's active relay. */
export function relayLock(schema: string): string {
  return `truckroll outbox ${schema}`;
}

/**
 * Publishes a schema's outbox. One relay per schema is active: it holds a session lock and reads and deletes rows in the same
 * session, so that losing the lock stops it. A standby takes over within a second.
 *
 * Every round reads the lowest existing ids (see Floor), never "ids above the last one": rows can commit later than rows with higher ids.
 * Within a subject, whose lock `append` requires, ids are in commit order, so a round sees no row without the earlier rows of its subject.
 *
 * A row is deleted after Kafka has acknowledged it. If the relay dies in between, the next one publishes the row again: the order is
 * kept, and consumers recognise the repeat.
 */
export class Relay implements BackgroundPart {
  readonly name = 'outbox relay';
  readonly #options: RelayOptions;
  readonly #lockName: string;
  readonly #stopping = new AbortController();
  readonly #arrivals = new Notifier();
  readonly #published;
  readonly #failures;
  readonly #rows;
  readonly #oldest;
  readonly #active;
  readonly #requests;
  #running: Promise<void> = Promise.resolve();
  #leads = false;
  /** When a relay of this database last announced new events, by performance.now(). */
  #newsAt = -Infinity;
  /** Schemas of the other relays in this database that have notified this relay since it became active. */
  readonly #others = new Set<string>();
  #notifying: NodeJS.Timeout | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#lockName = relayLock(this.#schema);
    const { metrics } = options;
    this.#published = metrics.counter('outbox_published_total', 'Events acknowledged by Kafka');
    this.#failures = metrics.counter('outbox_failures_total', 'Batches that Kafka did not acknowledge');
    this.#rows = metrics.gauge('outbox_rows', 'Events that wait for Kafka, as the active relay sees them');
    this.#oldest = metrics.gauge('outbox_oldest_seconds', 'Age of the oldest event that waits');
    this.#requests = kafkaDurations(metrics);
    this.#active = metrics.gauge('outbox_active', '1 where this replica publishes');
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#notifying);
    await this.#running;
    await this.#options.publisher.close();
  }

  poke(): void {
    if (this.#leads) this.#arrivals.notify();
    else if (!this.#stopped()) this.#notifying ??= setTimeout(() => void this.#notify(), NOTIFY_MS).unref();
  }

  /** Notifies outside the transaction that appends, because PostgreSQL commits transactions that notify one at a time. */
  async #notify(): Promise<void> {
    this.#notifying = undefined;
    const { database, log } = this.#options;
    // This relay may have become active since the timer started.
    if (this.#leads) return this.#arrivals.notify();
    const statement = { name: 'notify_outbox_relay', text: 'select pg_notify($1, $2)', values: [channelOf(this.#schema), ''] };
    await database
      .query(statement)
      .catch((error: unknown) => log.debug({ error }, 'cannot notify the active relay of an event; it finds the event at its next poll'));
  }

  async #run(): Promise<void> {
    const { database, publisher, log } = this.#options;
    for (let failures = 0; !this.#stopped(); ) {
      let session: DatabaseSession | undefined;
      try {
        session = await database.session();
        if (await this.#acquire(session)) {
          failures = 0;
          // Deletions need not wait for the disk: one lost in a crash only causes a repeat.
          await session.query({ text: 'set synchronous_commit = off' });
          const own = session;
          session.onNotification((payload, channel) => {
            if (channel === GREETING_CHANNEL) return this.#meet(own, payload);
            if (channel === NEWS_CHANNEL) this.#newsAt = performance.now();
            this.#arrivals.notify();
          });
          for (const channel of [channelOf(this.#schema), NEWS_CHANNEL, GREETING_CHANNEL]) await session.query({ text: `listen "${channel}"` });
          this.#leads = true;
          await this.#greet(session);
          await this.#lead(session);
        }
      } catch (error) {
        failures += 1;
        logOutage(log, 'the outbox relay lost its lock or its database session and restarts', failures, error);
        await pause(backoffMs(failures), this.#stopping.signal);
      } finally {
        this.#leads = false;
        this.#others.clear();
        this.#active.set({}, 0);
        this.#rows.set({}, 0);
        this.#oldest.set({}, 0);
        // Close the publisher first: nothing may be in flight once the lock is free.
        await publisher.close();
        await session?.close();
      }
    }
  }

  /** Waits for the lock. Resolves to false if stopped first. */
  async #acquire(session: DatabaseSession): Promise<boolean> {
    while (!this.#stopped()) {
      const { rows } = await session.query<{ locked: boolean }>({
        text: 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
        values: [this.#lockName],
      });
      if (rows[0]?.locked) return true;
      await pause(STANDBY_POLL_MS, this.#stopping.signal);
    }
    return false;
  }

  async #lead(session: DatabaseSession): Promise<void> {
    const { publisher, log } = this.#options;
    const lost = handled(
      session.ended.then(() => {
        throw new Error('the session that holds the relay lock has ended');
      }),
    );
    this.#active.set({}, 1);
    let pollMs = POLL.first;
    let failures = 0;
    let measuredAt = -Infinity;
    let announcedAt = -Infinity;
    let news = true;
    let behind = false;
    // Fewer while a topic allows less than such a batch.
    let most = BATCH_ROWS;
    const floor = new Floor();
    // The next watermark: `moment` can be announced once the outbox's rows up to `id` are published.
    let reaching: { readonly moment: number; readonly id: number } | undefined;
    const dueAt = (): number => {
      if (publisher.announce === undefined) return Infinity;
      if (news) return announcedAt + ANNOUNCE.busy;
      const everyMs = betweenWatermarks(performance.now() - this.#newsAt, this.#others.size);
      return everyMs === ANNOUNCE.following ? announcedAt + everyMs : nextOfAll(announcedAt, this.#restMs(everyMs));
    };
    while (!this.#stopped()) {
      const readAt = performance.now();
      // Always due when a backlog may end with this batch: consumers have waited long for a watermark.
      const due: boolean = publisher.announce !== undefined && (behind || readAt >= dueAt());
      const settled = await floor.candidate(session);
      // The order matters: what was committed before the moment is appended once `complete` finds nothing left, and visible to the read after it.
      const [moment, complete, read, highest] = await Promise.all([
        due ? clock(session) : undefined,
        due && (this.#options.complete?.(session) ?? true),
        session.queryBinary({ ...READ_BATCH, values: [floor.id] }),
        behind && due && reaching === undefined && readAt >= dueAt() ? highestId(session, floor.id) : undefined,
      ]);
      const rows: readonly ReadRow[] = read.slice(0, most).map(readRow);
      floor.settle(settled, rows[0]?.id);
      behind = rows.length === BATCH_ROWS || (rows[0] !== undefined && rows[0].found > rows.length);
      if (!behind) this.#waiting(rows);
      else if (readAt - measuredAt > MEASURE_MS) {
        await this.#measure(session, floor.id);
        measuredAt = readAt;
      }
      if (moment !== undefined && complete) {
        // A backlog that never ends must not hold back watermarks: everything now in the outbox is published before later rows.
        if (!behind) reaching = { moment, id: 0 };
        else if (highest !== undefined) reaching = { moment, id: highest };
      }
      const announce = async (): Promise<void> => {
        if (reaching === undefined || (behind && (rows.at(-1)?.id ?? 0) < reaching.id)) return;
        const { moment } = reaching;
        reaching = undefined;
        announcedAt = performance.now();
        news = false;
        const announced = publisher.announce?.(moment).catch((error: unknown) => log.debug({ error }, 'a watermark was not published'));
        await Promise.race([announced, lost]);
      };
      if (rows.length === 0) {
        await announce();
        // Dead rows that a long transaction keeps from being vacuumed make a poll expensive: poll less often then.
        const dearMs = 4 * (performance.now() - readAt);
        // Timers have a resolution of 1 ms.
        const untilDue = Math.ceil(dueAt() - performance.now());
        await this.#arrivals.wait(Math.max(Math.min(pollMs, Math.max(AGAIN_MS, untilDue)), dearMs), this.#stopping.signal);
        pollMs = Math.min(this.#restMs(POLL.most), pollMs * 1.5);
        continue;
      }
      pollMs = POLL.first;
      const sentAt = performance.now();
      try {
        await Promise.race([publisher.publish(rows), lost]);
        this.#requests.ended(sentAt, 'send', '');
        failures = 0;
      } catch (error) {
        this.#requests.ended(sentAt, 'send', 'unavailable');
        failures += 1;
        this.#failures.inc({});
        if (isTooLarge(error)) most = Math.ceil(rows.length / 2);
        logOutage(log, 'Kafka did not accept a batch of events; trying again', failures, error, { rows: rows.length });
        // Not interruptible by pokes: writes continue while Kafka is down.
        await Promise.race([pause(backoffMs(failures), this.#stopping.signal), lost]);
        continue;
      }
      most = Math.min(BATCH_ROWS, most + 1);
      this.#published.inc({}, rows.length);
      floor.published((rows.at(-1) as ReadRow).id);
      news = true;
      await Promise.all([
        session.query({
          name: 'outbox_delete',
          text: 'delete from outbox where id = any($1::bigint[])',
          values: [binaryArrays.bigint(rows.map((row) => row.id))],
        }),
        this.#announceNews(session),
      ]);
      await announce();
      const tookMs = performance.now() - readAt;
      if (rows.length < BATCH_ROWS) await pause(Math.min(UNFULL_PAUSE.mostMs, tookMs ** 2 / UNFULL_PAUSE.atRestMs), this.#stopping.signal);
    }
  }

  async #announceNews(session: DatabaseSession): Promise<void> {
    if (this.#options.publisher.announce === undefined || performance.now() - this.#newsAt <= ANNOUNCE.following) return;
    this.#newsAt = performance.now();
    await session.query({ name: 'notify_outbox_news', text: `select pg_notify('${NEWS_CHANNEL}', '')` });
  }

  async #greet(session: DatabaseSession): Promise<void> {
    if (this.#options.publisher.announce === undefined) return;
    await session.query({ name: 'greet_outbox_relays', text: `select pg_notify('${GREETING_CHANNEL}', $1)`, values: [this.#schema] });
  }

  #meet(session: DatabaseSession, schema: string): void {
    if (schema === this.#schema || this.#others.has(schema)) return;
    this.#others.add(schema);
    // The other relay began to listen after this one announced itself.
    this.#greet(session).catch((error: unknown) => this.#options.log.debug({ error }, 'cannot greet another relay; it keeps polling'));
  }

  #waiting(rows: readonly OutboxRow[]): void {
    const [oldest] = rows;
    this.#rows.set({}, rows.length);
    this.#oldest.set({}, oldest === undefined ? 0 : Math.max(0, Date.now() / 1000 - oldest.created_at / 1e6));
  }

  async #measure(session: DatabaseSession, floor: number): Promise<void> {
    const { rows } = await session.query<{ count: number; age: number | null }>({
      text: `select count(*), extract(epoch from now() - min(created_at))::float8 as age
        from (select created_at from outbox where id >= $1 order by id limit ${MOST_COUNTED}) waiting`,
      values: [floor],
    });
    this.#rows.set({}, rows[0]?.count ?? 0);
    this.#oldest.set({}, Math.max(0, rows[0]?.age ?? 0));
  }

  get #schema(): string {
    return this.#options.database.options.schema ?? '';
  }

  #restMs(ms: number): number {
    return this.#options.restMs ?? ms;
  }

  #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }
}

/** Interval between watermarks in ms while this relay has no new events: `quietMs` after other relays' last ones, knowing `others` other relays. */
export function betweenWatermarks(quietMs: number, others: number): number {
  if (quietMs < NEWS_MS) return ANNOUNCE.following;
  return quietMs > REST_AFTER_MS && others >= watermarkSources.length - 1 ? ANNOUNCE.rest : ANNOUNCE.idle;
}

/** The first moment after `after` at which the system clock is a multiple of `everyMs`. Both are in performance.now() time. */
function nextOfAll(after: number, everyMs: number): number {
  const clockMs = Date.now() - performance.now();
  return (Math.floor((after + clockMs) / everyMs) + 1) * everyMs - clockMs;
}

/** PostgreSQL's current time, the clock that dates commits, in microseconds since 1970. */
async function clock(session: DatabaseSession): Promise<number> {
  const { rows } = await session.query<{ at: number }>({ name: 'clock', text: 'select clock_timestamp() as at' });
  return (rows[0] as { at: number }).at;
}

async function highestId(session: DatabaseSession, floor: number): Promise<number> {
  const { rows } = await session.query<{ id: number | null }>({
    name: 'outbox_highest',
    text: 'select max(id) as id from outbox where id >= $1',
    values: [floor],
  });
  return rows[0]?.id ?? 0;
}
