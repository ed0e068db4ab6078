import {
  Notifier,
  backoffMs,
  binaryArrays,
  kafkaDurations,
  heard,
  logOutage,
  pause,
  type BackgroundPart,
  type Database,
  type Logger,
  type Metrics,
  type Session,
} from '@truckroll/service-kit';
import { watermarkSources } from '@truckroll/contract';
import type { OutboxRow } from './event.ts';
import { Floor } from './floor.ts';
import type { Publisher } from './publisher.ts';
import { BATCH_ROWS, READ_BATCH, readRow, type ReadRow } from './read-batch.ts';

export interface RelayOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  /** As in OutboxOptions. */
  readonly complete?: (session: Pick<Session, 'query'>) => Promise<boolean>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds for which an idle relay neither looks nor publishes a watermark, unless it is notified; as below unless given. */
  readonly restMs?: number;
}

/**
 * Milliseconds between looks at an empty outbox. Whoever appends pokes the relay here or has the other one notified; a look finds
 * what nobody told of: rows of a replica that died with its commit, of an earlier release, and of those that do not poke.
 */
const POLL = { first: 40, most: 6000 };
/** Between notifications of a replica that is not active. */
const NOTIFY_MS = 20;
/**
 * After a batch that did not fill a request, the next one waits as long as that one took, times how much longer it took than at rest: an
 * event on its own leaves at once, those of a busy time leave together, the busier the more. A batch costs us, PostgreSQL and
 * Kafka as much as thirty events, which nobody else misses while a batch is quick.
 */
const GATHER = { atRestMs: 5, mostMs: 20 };
/**
 * Milliseconds between watermarks: while there is something new here, while another owner has something new, which counts in
 * reports once all owners have published a later moment, while nobody has, and once nobody had for a while. Then all owners publish
 * theirs at the same moments, so that those who wait for them wake up once. Who is not sure to hear of all others' news takes no rest.
 */
const ANNOUNCE = { busy: 200, following: 500, idle: 2000, rest: 6000 };
const REST_AFTER_MS = 60_000;
/** A watermark that cannot be published yet is thought of again after as many milliseconds. */
const AGAIN_MS = 100;
/** How long news of another owner are news. */
const NEWS_MS = 2000;
const STANDBY_POLL_MS = 500;
const MEASURE_MS = 5000;
/** More rows than this are not counted, only said to be at least so many. */
const MOST_COUNTED = 100_000;

/** On which the active relay of a schema hears of rows of other replicas. */
const channelOf = (schema: string): string => `${schema}_outbox`;
/** On which relays of one database hear that another has news. Those of other databases publish their watermarks when they would anyway. */
const NEWS_CHANNEL = 'truckroll_outbox_news';
/** On which a relay that begins to lead, and those that it tells, name their schemas: who hears of each other's news. */
const GREETING_CHANNEL = 'truckroll_outbox_relays';

/** What the advisory lock that a schema's active relay holds is named after. */
export function relayLock(schema: string): string {
  return `truckroll outbox ${schema}`;
}

/**
 * Publishes a schema's outbox. One relay per schema is active: it holds a session lock, and reads and deletes rows on
 * the session that holds it, so that losing the lock stops it. A standby takes over within a second.
 *
 * Every round reads the lowest ids that are there, never "ids above the last one": transactions commit in another order
 * than their ids, and the last id would skip those that come late. A Floor says where the lowest can be. Rows of one subject are written under its lock,
 * so their ids are in commit order, and a round sees no row of a subject without those before it.
 *
 * A row is deleted after Kafka has acknowledged it. What was acknowledged but not deleted is published again by whoever
 * comes next: order is kept, repeats are removed by event id.
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
  /** When a relay of this database last told that it has news. */
  #newsAt = -Infinity;
  /** The schemas of other relays of this database that have led since this one does. */
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

  /** Ends after the batch that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#notifying);
    await this.#running;
    await this.#options.publisher.close();
  }

  /** There is something new: call after a commit. */
  poke(): void {
    if (this.#leads) this.#arrivals.notify();
    else if (!this.#stopped()) this.#notifying ??= setTimeout(() => void this.#notify(), NOTIFY_MS).unref();
  }

  /** Not in the transaction that appends: PostgreSQL commits those that notify one after the other. */
  async #notify(): Promise<void> {
    this.#notifying = undefined;
    const { database, log } = this.#options;
    // It may have taken over meanwhile.
    if (this.#leads) return this.#arrivals.notify();
    const statement = { name: 'notify_outbox_relay', text: 'select pg_notify($1, $2)', values: [channelOf(this.#schema), ''] };
    await database.query(statement).catch((error: unknown) => log.debug({ error }, 'the active relay was not told of an event, and finds it by looking'));
  }

  async #run(): Promise<void> {
    const { database, publisher, log } = this.#options;
    for (let failures = 0; !this.#stopped(); ) {
      let session: Session | undefined;
      try {
        session = await database.session();
        if (await this.#acquire(session)) {
          failures = 0;
          // A deletion that a crash undoes is a repeat, as is one that was not sent: not worth a wait for the disk.
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
        logOutage(log, 'the outbox relay lost its place and starts again', failures, error);
        await pause(backoffMs(failures), this.#stopping.signal);
      } finally {
        this.#leads = false;
        this.#others.clear();
        this.#active.set({}, 0);
        this.#rows.set({}, 0);
        this.#oldest.set({}, 0);
        // Nothing may be under way from here once the lock is free for another.
        await publisher.close();
        await session?.close();
      }
    }
  }

  /** Waits for the lock; false when stopped before. */
  async #acquire(session: Session): Promise<boolean> {
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

  async #lead(session: Session): Promise<void> {
    const { publisher, log } = this.#options;
    const lost = heard(
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
    const floor = new Floor();
    // A moment, and the highest id that the outbox had after it: a watermark once that is published.
    let reaching: { readonly moment: number; readonly id: number } | undefined;
    const dueAt = (): number => {
      if (publisher.announce === undefined) return Infinity;
      if (news) return announcedAt + ANNOUNCE.busy;
      const everyMs = betweenWatermarks(performance.now() - this.#newsAt, this.#others.size);
      return everyMs === ANNOUNCE.following ? announcedAt + everyMs : nextOfAll(announcedAt, this.#restMs(everyMs));
    };
    while (!this.#stopped()) {
      const readAt = performance.now();
      // At once where a backlog may end with this batch: who waits for it has waited for long.
      const due: boolean = publisher.announce !== undefined && (behind || readAt >= dueAt());
      const settled = await floor.candidate(session);
      // In this order: what was committed before the moment is in the rows, and known to be incomplete where it is.
      const [moment, read, highest, complete] = await Promise.all([
        due ? clock(session) : undefined,
        session.queryBinary({ ...READ_BATCH, values: [floor.id] }),
        behind && due && reaching === undefined && readAt >= dueAt() ? highestId(session, floor.id) : undefined,
        due && (this.#options.complete?.(session) ?? true),
      ]);
      const rows: readonly ReadRow[] = read.map(readRow);
      floor.settle(settled, rows[0]?.id);
      behind = rows.length === BATCH_ROWS || (rows[0] !== undefined && rows[0].found > rows.length);
      if (!behind) this.#waiting(rows);
      else if (readAt - measuredAt > MEASURE_MS) {
        await this.#measure(session, floor.id);
        measuredAt = readAt;
      }
      if (moment !== undefined && complete) {
        // A backlog that does not end must not hold back watermarks: all that the outbox has now is published before what comes.
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
        // Dead rows that a long transaction elsewhere keeps from being vacuumed make a look dear: look less often then.
        const dearMs = 4 * (performance.now() - readAt);
        // Timers count in whole milliseconds.
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
        logOutage(log, 'Kafka did not take a batch of events; trying again', failures, error, { rows: rows.length });
        // A poke must not shorten this: writes go on while Kafka is away.
        await Promise.race([pause(backoffMs(failures), this.#stopping.signal), lost]);
        continue;
      }
      this.#published.inc({}, rows.length);
      floor.published((rows.at(-1) as ReadRow).id);
      news = true;
      await Promise.all([
        session.query({
          name: 'outbox_delete',
          text: 'delete from outbox where id = any($1::bigint[])',
          values: [binaryArrays.bigint(rows.map((row) => row.id))],
        }),
        this.#tellNews(session),
      ]);
      await announce();
      const tookMs = performance.now() - readAt;
      if (rows.length < BATCH_ROWS) await pause(Math.min(GATHER.mostMs, tookMs ** 2 / GATHER.atRestMs), this.#stopping.signal);
    }
  }

  /** Unless somebody has told of news a moment ago. */
  async #tellNews(session: Session): Promise<void> {
    if (this.#options.publisher.announce === undefined || performance.now() - this.#newsAt <= ANNOUNCE.following) return;
    this.#newsAt = performance.now();
    await session.query({ name: 'notify_outbox_news', text: `select pg_notify('${NEWS_CHANNEL}', '')` });
  }

  /** Tells relays that lead of this one. */
  async #greet(session: Session): Promise<void> {
    if (this.#options.publisher.announce === undefined) return;
    await session.query({ name: 'greet_outbox_relays', text: `select pg_notify('${GREETING_CHANNEL}', $1)`, values: [this.#schema] });
  }

  #meet(session: Session, schema: string): void {
    if (schema === this.#schema || this.#others.has(schema)) return;
    this.#others.add(schema);
    // It has begun to listen since this relay greeted.
    this.#greet(session).catch((error: unknown) => this.#options.log.debug({ error }, 'another relay was not told of this one, and takes no rest'));
  }

  /** Rows that are all there are. */
  #waiting(rows: readonly OutboxRow[]): void {
    const [oldest] = rows;
    this.#rows.set({}, rows.length);
    this.#oldest.set({}, oldest === undefined ? 0 : Math.max(0, Date.now() / 1000 - oldest.created_at / 1e6));
  }

  /** Where there are more than one look sees. */
  async #measure(session: Session, floor: number): Promise<void> {
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

/** Milliseconds from one watermark to the next while there is nothing new here, of so many other relays heard of and so long after their last news. */
export function betweenWatermarks(quietMs: number, others: number): number {
  if (quietMs < NEWS_MS) return ANNOUNCE.following;
  return quietMs > REST_AFTER_MS && others >= watermarkSources.length - 1 ? ANNOUNCE.rest : ANNOUNCE.idle;
}

/** The first moment after one, both by performance.now(), that is a multiple of so many milliseconds by the clock. */
function nextOfAll(after: number, everyMs: number): number {
  const clockMs = Date.now() - performance.now();
  return (Math.floor((after + clockMs) / everyMs) + 1) * everyMs - clockMs;
}

/** Now, by the clock that the moments of commits are told by. Microseconds since 1970. */
async function clock(session: Session): Promise<number> {
  const { rows } = await session.query<{ at: number }>({ name: 'clock', text: 'select clock_timestamp() as at' });
  return (rows[0] as { at: number }).at;
}

async function highestId(session: Session, floor: number): Promise<number> {
  const { rows } = await session.query<{ id: number | null }>({
    name: 'outbox_highest',
    text: 'select max(id) as id from outbox where id >= $1',
    values: [floor],
  });
  return rows[0]?.id ?? 0;
}
