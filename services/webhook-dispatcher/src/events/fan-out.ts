import { ApiError } from '@truckroll/contract';
import type { FanOutRequest, FanOutResponse, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Logger, Metrics } from '@truckroll/service-kit';
import { publicEvent } from './body.ts';

export interface FanOutOptions {
  readonly fanOut: (request: FanOutRequest, options: { signal: AbortSignal }) => Promise<FanOutResponse>;
  /** Called when there is something to send now. */
  readonly due: () => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Of one request; gRPC takes 4 MiB. */
const MOST_EVENTS = 500;
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Has the events of a partition stored as deliveries, in order. Resolves when all are stored; rejects where trying again
 * may help, and then all may be sent again. An event that can never be stored is logged and counted, and the rest goes on.
 */
export function createFanOut({ fanOut, due, log, metrics }: FanOutOptions): (events: readonly IncomingEvent[], signal: AbortSignal) => Promise<void> {
  const counter = metrics.counter('webhook_events_total', 'Public events by what became of them', ['result']);

  async function store(events: readonly PublicEvent[], signal: AbortSignal): Promise<void> {
    try {
      const { pending } = await fanOut({ events: [...events] }, { signal });
      counter.inc({ result: 'stored' }, events.length);
      if (pending > 0) due();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      if (events.length > 1) {
        for (const event of events) await store([event], signal);
        return;
      }
      setAside(events[0]!, error);
    }
  }

  function setAside(event: { id: string; type: string }, error: unknown): void {
    counter.inc({ result: 'refused' });
    log.error({ error, id: event.id, type: event.type }, 'an event cannot be delivered and is passed over');
  }

  return async (events, signal) => {
    const readable = events.flatMap((event) => {
      try {
        return [publicEvent(event)];
      } catch (error) {
        setAside(event, error);
        return [];
      }
    });
    for (const batch of batches(readable)) await store(batch, signal);
  };
}

export function* batches(events: readonly PublicEvent[]): Generator<readonly PublicEvent[]> {
  let batch: PublicEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    if (batch.length > 0 && (batch.length === MOST_EVENTS || bytes + event.body.length > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(event);
    bytes += event.body.length;
  }
  if (batch.length > 0) yield batch;
}
