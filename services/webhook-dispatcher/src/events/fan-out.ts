import { ApiError } from '@truckroll/contract';
import type { FanOutRequest, FanOutResponse, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Logger, Metrics } from '@truckroll/service-kit';
import { gather } from '../gather.ts';
import { publicEvent } from './body.ts';

export interface FanOutOptions {
  readonly fanOut: (request: FanOutRequest) => Promise<FanOutResponse>;
  /** Called when there is something to send now. */
  readonly due: () => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Of one request. */
const MOST_EVENTS = 500;
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Has the events of a partition stored as deliveries, in order, together with those of other partitions that come
 * meanwhile. Resolves when all are stored; rejects where trying again may help, and then all may be sent again. An event
 * that can never be stored is logged and counted, and the rest goes on.
 */
export function createFanOut({ fanOut, due, log, metrics }: FanOutOptions): (events: readonly IncomingEvent[]) => Promise<void> {
  const counter = metrics.counter('webhook_events_total', 'Public events by what became of them', ['result']);

  async function store(events: readonly PublicEvent[]): Promise<void> {
    try {
      const { pending } = await fanOut({ events: [...events] });
      counter.inc({ result: 'stored' }, events.length);
      if (pending > 0) due();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      if (events.length > 1) {
        for (const event of events) await store([event]);
        return;
      }
      setAside(events[0]!, error);
    }
  }

  function setAside(event: { id: string; type: string }, error: unknown): void {
    counter.inc({ result: 'refused' });
    log.error({ error, id: event.id, type: event.type }, 'an event cannot be delivered and is passed over');
  }

  const storeTogether = gather(loadOf, async (lists) => {
    await store(lists.flat());
    return lists;
  });

  return async (events) => {
    const readable = events.flatMap((event) => {
      try {
        return [publicEvent(event)];
      } catch (error) {
        setAside(event, error);
        return [];
      }
    });
    // One after the other: no event is stored where one before it was not.
    for (const batch of batches(readable)) await storeTogether(batch);
  };
}

/** Share of what one request carries. */
function loadOf(events: readonly PublicEvent[]): number {
  return events.reduce((sum, { body }) => sum + Math.max(1 / MOST_EVENTS, body.length / MOST_BYTES), 0);
}

function* batches(events: readonly PublicEvent[]): Generator<readonly PublicEvent[]> {
  let batch: PublicEvent[] = [];
  let load = 0;
  for (const event of events) {
    const own = loadOf([event]);
    if (batch.length > 0 && load + own > 1) {
      yield batch;
      batch = [];
      load = 0;
    }
    batch.push(event);
    load += own;
  }
  if (batch.length > 0) yield batch;
}
