// Which key caused which event. An effect is an event; everything else that a write stores must agree with it.
import { assignmentOf, isAcknowledged, type Attempt, type Write } from '../history.ts';
import type { StoredKey, VisitEvent } from '../observed.ts';
import { violation, type Violation } from './violations.ts';

export interface Effect {
  readonly event: VisitEvent;
  readonly place: number;
  readonly key: string;
  readonly write: Write;
}

export interface Attribution {
  readonly effects: readonly Effect[];
  readonly byKey: ReadonlyMap<string, readonly Effect[]>;
  readonly violations: readonly Violation[];
}

const nameOf = (kind: Write['kind'], assignmentId: string): string => `${kind} ${assignmentId}`;

export function attribute(
  attempts: ReadonlyMap<string, readonly Attempt[]>,
  keys: readonly StoredKey[],
  events: ReadonlyMap<string, readonly VisitEvent[]>,
): Attribution {
  const violations: Violation[] = [];
  const placed = new Map<string, { event: VisitEvent; place: number }>();
  for (const subject of events.values()) {
    for (const [index, event] of subject.entries()) placed.set(nameOf(event.added ? 'add' : 'remove', event.assignmentId), { event, place: index + 1 });
  }
  const byEvent = new Map<string, Effect>();
  const byKey = new Map<string, Effect[]>();

  function claim(key: string, write: Write, name: string, missing: Violation): void {
    const found = placed.get(name);
    if (found === undefined) return void violations.push(missing);
    const { event, place } = found;
    const known = byEvent.get(event.id);
    if (known?.key === key) return;
    if (known !== undefined) return void violations.push(violation('two-keys-of-an-effect', `${name} is the effect of ${known.key} and of ${key}`));
    const effect = { event, place, key, write };
    byEvent.set(event.id, effect);
    byKey.set(key, [...(byKey.get(key) ?? []), effect]);
  }

  const rows = new Map(keys.map((row) => [row.key, row]));
  for (const [key, all] of attempts) {
    for (const attempt of all.filter(isAcknowledged)) {
      const name = nameIn(attempt.write, attempt.answer?.location);
      claim(key, attempt.write, name, violation('acknowledged-without-effect', `${name} by ${key} was acknowledged and is in no event`));
    }
    const row = rows.get(key);
    if (row === undefined) continue;
    const write = all.find((attempt) => attempt.write.kind === (row.location === null ? 'remove' : 'add') && attempt.write.visitId === row.visitId)?.write;
    const missing = violation('key-without-effect', `${key} is stored with an answer to nothing that was asked for, or that is in an event`);
    if (write === undefined) violations.push(missing);
    else claim(key, write, nameIn(write, row.location), missing);
  }
  for (const key of rows.keys()) if (!attempts.has(key)) violations.push(violation('key-without-effect', `${key} is stored, but no client sent it`));
  for (const subject of events.values()) {
    for (const event of subject) {
      if (byEvent.has(event.id)) continue;
      violations.push(
        violation('event-without-write', `${event.type} ${event.assignmentId}, number ${event.sequence} of visit ${event.visitId}, is the effect of no write`),
      );
    }
  }
  for (const [key, effects] of byKey) {
    if (!rows.has(key)) violations.push(violation('effect-without-key', `${key} had an effect and is not stored`));
    if (effects.length > 1)
      violations.push(
        violation('two-effects-of-a-key', `${key} was carried out as ${effects.map(({ event }) => `${event.type} ${event.assignmentId}`).join(' and ')}`),
      );
  }
  return { effects: [...byEvent.values()], byKey, violations };
}

function nameIn(write: Write, location: string | null | undefined): string {
  return nameOf(write.kind, write.kind === 'remove' ? write.assignmentId : (assignmentOf(location) ?? 'nothing'));
}
