// Every successful write that requested a customer message must have exactly one, and there must be no others.
import type { StoredNotification } from '../observed.ts';
import type { Effect } from './effects.ts';
import { violation, type Violation } from './violations.ts';

export function checkNotifications(notifications: readonly StoredNotification[], effects: readonly Effect[]): Violation[] {
  // Counted, because a visit can return to an earlier revision.
  const balance = new Map<string, number>();
  const count = (visitId: string, revision: string, by: number): void => {
    const name = `visit ${visitId} at revision ${revision}`;
    balance.set(name, (balance.get(name) ?? 0) + by);
  };
  for (const { event, write } of effects) if (write.notify) count(event.visitId, event.revision, 1);
  for (const { visitId, revision } of notifications) count(visitId, revision, -1);
  return [...balance].flatMap(([name, left]) =>
    left === 0
      ? []
      : [violation('notification-differs', `${name}: ${Math.abs(left)} ${left > 0 ? 'messages are missing' : 'messages that no request asked for'}`)],
  );
}
