// What both cells have published, as one consumer would have read it.
import type { TopicDefinition } from '@truckroll/contract';
import type { IncomingEvent } from '../../../packages/outbox/src/index.ts';
import { readTopic, type TopicContent } from '../../faults/system/topic.ts';
import type { Cells } from './cells.ts';

type Topics = { readonly [cell in 'home' | 'west']: Pick<Cells[cell], 'kafka'> };

/**
 * Events with numbers. Each cell's are in order by themselves, and versions of two cells say nothing about each other: so the events of a subject are in the order
 * of their numbers, which count as versions.
 */
export async function numberedEvents({ home, west }: Topics, topic: TopicDefinition): Promise<TopicContent & { disorder: string[] }> {
  const cells = [await readTopic(home.kafka, topic), await readTopic(west.kafka, topic)];
  const disorder = cells.flatMap(({ events }) => outOfOrder(events));
  const events = cells.flatMap((cell) => cell.events).map((event) => ({ ...event, version: event.sequence ?? event.version }));
  return {
    events: events.toSorted((a, b) => a.version - b.version),
    unreadable: cells.reduce((sum, { unreadable }) => sum + unreadable, 0),
    disorder,
  };
}

function outOfOrder(events: readonly IncomingEvent[]): string[] {
  const seen = new Set<string>();
  const latest = new Map<string, number>();
  return events.flatMap(({ id, key, sequence = 0 }) => {
    if (seen.has(id)) return [];
    seen.add(id);
    const before = latest.get(key) ?? 0;
    latest.set(key, Math.max(before, sequence));
    return sequence < before ? [`number ${sequence} of ${key} was published after number ${before}`] : [];
  });
}
