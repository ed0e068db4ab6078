// Events that dispatchers could not read, because a newer scheduling published them. Kept until a newer dispatcher reads them.
import type { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import type {
  DeadLetter,
  ReadDeadLettersRequest,
  ReadDeadLettersResponse,
  SetAsideRequest,
  SetAsideResponse,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Handlers } from '@truckroll/grpc';
import {
  deadLetterOf,
  deadLettersAfter,
  deleteDeadLetters,
  forgetDeadLetters,
  listDeadLetters,
  renewDeadLetters,
  retryDeadLetters,
  storeDeadLetter,
  withoutErased,
  type IncomingEvent,
  type Subscriber,
} from '@truckroll/outbox';
import type { Database, Transaction } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import { readRequestId, readTraceparent, type Logger, type Metrics } from '@truckroll/telemetry';
import type { Context } from '../../context.ts';

/** Consumer name of these letters in the table that also holds integrations' own dead letters. */
const CONSUMER = 'webhook-dispatcher';
const KEPT_DAYS = 14;
const LOOK_MS = 60_000;
const MOST_READ = { events: 100, bytes: 2_000_000 };
const MOST_LISTED = 1000;

/** DeliveryService.SetAside. A letter that is stored already, or of a deleted company, adds nothing. */
export async function setAside({ database, log }: Context, { letters }: SetAsideRequest): Promise<SetAsideResponse> {
  await database.transaction(async (tx) => {
    await lockNumbers(tx);
    const reasons = new Map(letters.map((letter) => [eventOf(letter), storable(letter.reason)]));
    for (const event of await withoutErased(tx, [...reasons.keys()])) await storeDeadLetter(tx, CONSUMER, deadLetterOf(event), reasons.get(event)!);
  });
  log.warn(
    { count: letters.length, reasons: [...new Set(letters.map(({ type, reason }) => `${type}: ${reason}`))].slice(0, 5) },
    'events that a dispatcher does not know became dead letters',
  );
  return {};
}

/** One transaction at a time, so that ids become visible in order and a reader that continues after an id misses none. */
async function lockNumbers(tx: Transaction): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('webhook dead letters in ' || current_schema(), 0))` });
}

/** At the end of a freeze: dispatchers read the company's dead letters again. */
export async function offerAgain(tx: Transaction, companyId: string): Promise<void> {
  await lockNumbers(tx);
  await renewDeadLetters(tx, CONSUMER, companyId);
}

/** DeliveryService.ReadDeadLetters: a page within MOST_READ, after the dead letter with the id `after`; empty at the end. */
export async function readDeadLetters({ database }: Context, { after }: ReadDeadLettersRequest): Promise<ReadDeadLettersResponse> {
  const found = await deadLettersAfter(database, CONSUMER, after, MOST_READ);
  return { letters: found.map(({ id, event, reason }) => letterOf(id, event, reason)) };
}

/** Deletes dead letters, in the transaction that stores them as events. */
export async function resume(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await deleteDeadLetters(tx, CONSUMER, ids);
}

/** Lists these dead letters together with those of integrations' own subscriber. Retries only the latter: dispatchers retry theirs by themselves. */
export function deadLetterHandlers(database: Database, subscriber: Subscriber, group: string): Handlers<typeof ParkingServiceService> {
  return {
    async listParkedEvents({ limit }) {
      const most = Math.min(Math.max(limit, 1), MOST_LISTED);
      const [theirs, own] = await Promise.all([listDeadLetters(database, CONSUMER, most), listDeadLetters(database, group, most)]);
      const events = [...theirs.events, ...own.events].toSorted((a, b) => a.parked_at - b.parked_at).slice(0, most);
      return { events, count: theirs.count + own.count };
    },
    async retryParkedEvents() {
      const own = await retryDeadLetters(subscriber);
      const { count } = await listDeadLetters(database, CONSUMER, 1);
      const waiting = count === 0 ? null : `${count} wait for a webhook dispatcher that knows them, which takes them up by itself: upgrade the dispatchers.`;
      return { applied: own.applied, reason: own.reason ?? waiting };
    },
  };
}

/** Deletes dead letters older than 14 days, and counts the rest. */
export function deadLetters(database: Database, log: Logger, metrics: Metrics): BackgroundPart {
  const gauge = metrics.gauge('webhook_dead_letters', 'Events that no webhook dispatcher has known yet', []);
  let failures = 0;
  const looks = new PeriodicTask(LOOK_MS, async () => {
    try {
      const dropped = await forgetDeadLetters(database, CONSUMER, KEPT_DAYS);
      if (dropped > 0) log.error({ dropped }, 'events that no webhook dispatcher has known for 14 days were dropped');
      gauge.set({}, (await listDeadLetters(database, CONSUMER, 1)).count);
      failures = 0;
    } catch (error) {
      failures += 1;
      logOutage(log, 'dead letters wait for the database', failures, error);
    }
  });
  return { name: 'webhook dead letters', start: async () => looks.start(), stop: () => looks.stop() };
}

function eventOf({
  log_offset,
  event_id,
  company_id,
  sequence,
  payload,
  request_id,
  traceparent,
  people,
  reason: _reason,
  ...same
}: DeadLetter): IncomingEvent {
  return {
    ...same,
    offset: log_offset,
    sequence: sequence ?? undefined,
    trace: readTraceparent(traceparent ?? undefined),
    requestId: readRequestId(request_id),
    people: people == null ? undefined : storable(people),
    id: storable(event_id),
    type: storable(same.type),
    source: storable(same.source),
    companyId: storable(company_id),
    key: storable(same.key),
    payload: payload == null ? null : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
  };
}

/** Replaces what PostgreSQL cannot store, so that no event is lost because of its text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

function letterOf(id: number, event: IncomingEvent, reason: string): DeadLetter {
  const { offset, id: event_id, companyId, sequence = null, requestId, trace, ...same } = event;
  return { ...same, id, log_offset: offset, event_id, company_id: companyId, sequence, reason, request_id: requestId, traceparent: trace };
}
