// Events as a consumer processes them: the first of each id, in the order of their subject.
import type { PublishedEvent } from '../observed.ts';
import { violation, type Violation } from './violations.ts';

export interface Taken<E> {
  readonly bySubject: ReadonlyMap<string, readonly E[]>;
  readonly duplicates: number;
  readonly violations: readonly Violation[];
}

/** A repeat has a known id and must equal its first occurrence. Sequences of a subject must count 1, 2, 3, …. */
export function takeEvents<E extends PublishedEvent>(events: readonly E[]): Taken<E> {
  const first = new Map<string, E>();
  const bySubject = new Map<string, E[]>();
  const violations: Violation[] = [];
  for (const event of events) {
    const known = first.get(event.id);
    if (known !== undefined) {
      if (!same(known, event)) violations.push(violation('duplicate-differs', `${event.type} ${event.id} of ${event.key} came with two contents`));
      continue;
    }
    first.set(event.id, event);
    const subject = bySubject.get(event.key);
    if (subject === undefined) bySubject.set(event.key, [event]);
    else subject.push(event);
  }
  for (const [key, subject] of bySubject) violations.push(...brokenSequence(key, subject));
  return { bySubject, duplicates: events.length - first.size, violations };
}

function same(a: PublishedEvent, b: PublishedEvent): boolean {
  return a.type === b.type && a.key === b.key && a.sequence === b.sequence && a.version === b.version && a.partition === b.partition && a.payload === b.payload;
}

function brokenSequence(key: string, events: readonly PublishedEvent[]): Violation[] {
  const sequenced = events[0]?.sequence !== undefined;
  const wrong = events.findIndex((event, i) => {
    const before = events[i - 1];
    return (sequenced && event.sequence !== i + 1) || (before !== undefined && before.version >= event.version);
  });
  if (wrong < 0) return [];
  const shown = events.slice(Math.max(0, wrong - 2), wrong + 3).map(({ sequence, version }) => `${sequence ?? '-'} (version ${version})`);
  return [violation('sequence-broken', `events of ${key} are not in order at place ${wrong + 1}: … ${shown.join(', ')} …`)];
}
