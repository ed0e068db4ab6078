import { ApiError } from '@truckroll/contract';
import type {
  DeadLetter,
  FanOutRequest,
  FanOutResponse,
  LeaseRequest,
  LeasedDelivery,
  PublicEvent,
  SetAsideRequest,
  SetAsideResponse,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import { gather } from '@truckroll/process';
import { ATTR_MESSAGING_BATCH_MESSAGE_COUNT, onBehalfOf, requestOf, withBatchSpan, type Logger, type Metrics } from '@truckroll/telemetry';
import { batches, loadOf } from './batches.ts';
import { eventOf, letterOf } from './dead-letters.ts';
import { Pace } from './pace.ts';

export interface FanOutOptions {
  readonly fanOut: (request: FanOutRequest) => Promise<FanOutResponse>;
  readonly setAside: (request: SetAsideRequest) => Promise<SetAsideResponse>;
  /** Converts an event to the form that is stored and sent. Throws if this release cannot. */
  readonly read: (event: IncomingEvent) => PublicEvent;
  /** The worker's method, for Pace. */
  readonly spare: (wanted: number) => Promise<number>;
  /** The worker's method: sends the deliveries that `work` leases while storing them. */
  readonly borrow: (most: number, work: (lease: LeaseRequest | undefined) => Promise<readonly LeasedDelivery[]>) => Promise<void>;
  /** The worker's method: reports how many deliveries were stored as due without a lease. */
  readonly postponed: (deliveries: number) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Refused = (event: PublicEvent, error: ApiError) => Promise<void>;

export interface FanOut {
  /**
   * Stores the events of a partition as deliveries, in order, batched with events of other partitions. Events that this release
   * does not know or that can never be stored become dead letters. Rejects if retrying may help; all events may then be passed again.
   */
  handle(events: readonly IncomingEvent[]): Promise<void>;
  /** Stores the dead letters that this release can read. Rejects as above. */
  resume(letters: readonly DeadLetter[]): Promise<void>;
}

/** Slots reserved per event when storing it. An event may have more endpoints. */
const ROOM_PER_EVENT = 4;

export function createFanOut({ fanOut, setAside, read, spare, borrow, postponed, log, metrics }: FanOutOptions): FanOut {
  const pace = new Pace(spare);
  const counter = metrics.counter('webhook_events_total', 'Public events by what became of them', ['result']);

  async function store(events: readonly PublicEvent[], letters: ReadonlyMap<PublicEvent, number>, refused: Refused): Promise<void> {
    try {
      const dead_letter_ids = events.flatMap((event) => letters.get(event) ?? []);
      const traces = events.map(({ traceparent }) => traceparent);
      await borrow(events.length * ROOM_PER_EVENT, async (lease) => {
        const { pending, deliveries } = await withBatchSpan(traces, 'fan out', 'CONSUMER', { [ATTR_MESSAGING_BATCH_MESSAGE_COUNT]: events.length }, () =>
          fanOut({ events: [...events], dead_letter_ids, lease }),
        );
        pace.stored(events.length, pending);
        postponed(pending - deliveries.length);
        return withEvents(deliveries, events);
      });
      counter.inc({ result: letters.size > 0 ? 'resumed' : 'stored' }, events.length);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      if (events.length > 1) {
        for (const event of events) await store([event], letters, refused);
        return;
      }
      await refused(events[0]!, error);
    }
  }

  async function keep(letters: readonly DeadLetter[]): Promise<void> {
    for (const batch of batches(letters, ({ payload }) => payload?.length ?? 0)) await setAside({ letters: [...batch] });
    counter.inc({ result: 'set_aside' }, letters.length);
    for (const { event_id: id, type, reason } of letters) log.warn({ id, type, reason }, 'an event cannot be delivered by this release and is set aside');
  }

  const sizeOf = ({ body }: PublicEvent): number => body.length;
  const origins = new WeakMap<PublicEvent, IncomingEvent>();
  const none = new Map<PublicEvent, number>();
  const storeTogether = gather<readonly PublicEvent[], unknown>(
    (events) => loadOf(events, sizeOf),
    async (lists) => {
      for (let left = lists.flat(); left.length > 0; ) {
        const count = await pace.next(left.length);
        await store(left.slice(0, count), none, (event, error) => keep([letterOf(origins.get(event) as IncomingEvent, error)]));
        left = left.slice(count);
      }
      return lists;
    },
  );

  return {
    async handle(events) {
      const unknown: DeadLetter[] = [];
      const known = events.flatMap((event) => {
        try {
          const readable = read(event);
          origins.set(readable, event);
          return [readable];
        } catch (error) {
          unknown.push(letterOf(event, error));
          return [];
        }
      });
      if (unknown.length > 0) await keep(unknown);
      // Sequential: an event must not be stored unless all earlier ones were.
      for (const batch of batches(known, sizeOf)) {
        const [only] = batch.length === 1 ? batch : [];
        await onBehalfOf(only && requestOf(only.request_id, only.traceparent), () => storeTogether(batch));
      }
      for (const event of known) {
        const { id, type, company_id: companyId, subject } = event;
        onBehalfOf(requestOf(event.request_id, event.traceparent), () => log.info({ event: id, type, companyId, subject }, 'an event was handed to endpoints'));
      }
    },

    async resume(letters) {
      const known = new Map<PublicEvent, number>();
      for (const letter of letters) {
        try {
          known.set(read(eventOf(letter)), letter.id);
        } catch {
          // Left for a release that can read it.
        }
      }
      for (const batch of batches([...known.keys()], sizeOf))
        await store(batch, known, async ({ id }, error) => log.warn({ id, error }, 'an event that was set aside is refused and stays'));
    },
  };
}

function withEvents(deliveries: readonly LeasedDelivery[], events: readonly PublicEvent[]): LeasedDelivery[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return deliveries.flatMap((delivery) => {
    const event = byId.get(delivery.event_id);
    if (event === undefined) return [];
    const { type: event_type, body, request_id, traceparent } = event;
    return [{ ...delivery, event_type, body, request_id, traceparent }];
  });
}
