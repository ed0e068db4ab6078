// Reads events from shortly before the restored moment on: finds those to publish again, and those not part of the restored data.
import { codec, publicEvents, topics } from '@truckroll/contract';
import { fannedOut, type PublishedEvent } from '@truckroll/integrations/restored';
import { replay, type IncomingEvent, type KafkaClient } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { eventsHad } from '@truckroll/scheduling/restored';
import type { Placed } from './outdated.ts';

export interface Window {
  /** Events in the restored data that are not deliveries yet. Consumers skip all old events, so these are published again. */
  readonly repeated: readonly { readonly placed: Placed; readonly published: PublishedEvent }[];
  /** Events that were published, perhaps to receivers too, but are not in the restored data. */
  readonly undone: readonly PublishedEvent[];
  readonly newest: number;
}

export interface WindowOptions {
  readonly kafka: KafkaClient;
  readonly scheduling: Database;
  readonly integrations: Database;
  /** Microseconds since 1970. */
  readonly since: number;
  readonly signal: AbortSignal;
  /** Called with the share read, from 0 to 1. */
  readonly progress: (share: number) => void;
}

const shapes = new Map(publicEvents.map(({ type, body }) => [type, body.typeName]));

export async function readWindow({ kafka, scheduling, integrations, since, signal, progress }: WindowOptions): Promise<Window> {
  const repeated: { placed: Placed; published: PublishedEvent }[] = [];
  const undone: PublishedEvent[] = [];
  const seen = new Set<string>();
  let newest = 0;

  async function look(events: readonly IncomingEvent[]): Promise<void> {
    for (const { version } of events) newest = Math.max(newest, version);
    // An event may have been published twice, even within a batch.
    const fresh = events.filter(({ id, time }) => time >= since && !seen.has(id) && seen.add(id));
    if (fresh.length === 0) return;
    const had = await eventsHad(scheduling, [...new Set(fresh.map(({ key }) => key))]);
    const published = fresh.map(publishedOf);
    const known = await fannedOut(integrations, published);
    for (const [index, event] of fresh.entries()) {
      const sent = published[index]!;
      if (sent.sequence > (had.get(event.key) ?? 0)) undone.push(sent);
      else if (!known.has(event.id)) repeated.push({ placed: placedOf(event), published: sent });
    }
  }

  await replay({ kafka, topic: topics.serviceRequests, signal, progress, apply: look });
  return { repeated, undone, newest };
}

function placedOf({ id, topic, key, type, companyId, payload, sequence, version, people }: IncomingEvent): Placed {
  return { version, event: { id, topic, key, type, companyId, payload, people, ...(sequence === undefined ? {} : { sequence }) } };
}

function publishedOf({ id, type, companyId, key, sequence = 0, payload, time }: IncomingEvent): PublishedEvent {
  const shape = shapes.get(type);
  const { timestamp } = shape === undefined || payload === null ? { timestamp: time } : (codec(shape).decode(payload) as { timestamp: number });
  return { id, type, companyId, subject: key.slice(key.indexOf('/') + 1), sequence, timestamp };
}
