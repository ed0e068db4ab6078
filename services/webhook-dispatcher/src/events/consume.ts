import { ApiError } from '@truckroll/contract';
import type {
  DeadLetter,
  FanOutRequest,
  FanOutResponse,
  LeasedDelivery,
  PublicEvent,
  SetAsideRequest,
  SetAsideResponse,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import { gather } from '@truckroll/process';
import { ATTR_MESSAGING_BATCH_MESSAGE_COUNT, onBehalfOf, requestOf, withBatchSpan, type Logger, type Metrics } from '@truckroll/telemetry';
import type { Intake } from '../queue/worker.ts';
import { batches, loadOf } from './batches.ts';
import { eventOf, letterOf } from './dead-letters.ts';

export interface EventConsumerOptions {
  readonly fanOut: (request: FanOutRequest) => Promise<FanOutResponse>;
  readonly setAside: (request: SetAsideRequest) => Promise<SetAsideResponse>;
  /** Converts an event to the form that is stored and sent. Throws if this release cannot. */
  readonly read: (event: IncomingEvent) => PublicEvent;
  /** The worker's method. */
  readonly store: (intake: Intake) => Promise<number>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Refused = (event: PublicEvent, error: ApiError) => Promise<void>;

export interface EventConsumer {
  /**
   * Stores the events of a partition as deliveries, in order, batched with events of other partitions. Events that this release
   * does not know or that can never be stored become dead letters. Rejects if retrying may help; all events may then be passed again.
   */
  handle(events: readonly IncomingEvent[]): Promise<void>;
  /** Stores the dead letters that this release can read. Rejects as above. */
  resume(letters: readonly DeadLetter[]): Promise<void>;
}

/** `fanOut` and `setAside` are rpcs of integrations. If it refuses a batch as wrong (400), each event is tried alone, and those refused become dead letters. */
export function createConsumer({ fanOut, setAside, read, store, log, metrics }: EventConsumerOptions): EventConsumer {
  const counter = metrics.counter('webhook_events_total', 'Public events by what became of them', ['result']);

  /** Stores the events, or as many as the worker takes if they wait. Resolves to the number of those that need no more storing. */
  async function storeSome(events: readonly PublicEvent[], letters: ReadonlyMap<PublicEvent, number>, refused: Refused, waits = false): Promise<number> {
    let batch = events;
    try {
      return await store({
        events: events.length,
        waits,
        async store(count, lease) {
          batch = events.slice(0, count);
          const traces = batch.map(({ traceparent }) => traceparent);
          const about = { [ATTR_MESSAGING_BATCH_MESSAGE_COUNT]: count };
          const dead_letter_ids = batch.flatMap((event) => letters.get(event) ?? []);
          const { pending, deliveries } = await withBatchSpan(traces, 'fan out', 'CONSUMER', about, () =>
            fanOut({ events: [...batch], dead_letter_ids, lease }),
          );
          counter.inc({ result: letters.size > 0 ? 'resumed' : 'stored' }, count);
          return { pending, deliveries: withEvents(deliveries, batch) };
        },
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      if (batch.length > 1) for (const event of batch) await storeSome([event], letters, refused);
      else await refused(batch[0]!, error);
      return batch.length;
    }
  }

  async function keep(letters: readonly DeadLetter[]): Promise<void> {
    for (const batch of batches(letters, ({ payload }) => payload?.length ?? 0)) await setAside({ letters: [...batch] });
    counter.inc({ result: 'set_aside' }, letters.length);
    for (const { event_id: id, type, reason } of letters) log.warn({ id, type, reason }, 'this release cannot deliver an event: it is kept as a dead letter');
  }

  const sizeOf = ({ body }: PublicEvent): number => body.length;
  const origins = new WeakMap<PublicEvent, IncomingEvent>();
  const none = new Map<PublicEvent, number>();
  const storeTogether = gather<readonly PublicEvent[], unknown>(
    (events) => loadOf(events, sizeOf),
    async (lists) => {
      for (let left = lists.flat(); left.length > 0; ) {
        const refused: Refused = (event, error) => keep([letterOf(origins.get(event) as IncomingEvent, error)]);
        left = left.slice(await storeSome(left, none, refused, true));
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
        await storeSome(batch, known, async ({ id }, error) => log.warn({ id, error }, 'a dead letter is refused and stays'));
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
