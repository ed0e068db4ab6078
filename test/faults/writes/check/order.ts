// Checks the order of a visit's writes: each starts from the previous one's revision, and none comes before a write that ended before it was sent.
import { isAcknowledged } from '../history.ts';
import type { Lives } from './answers.ts';
import { violation, type Violation } from './violations.ts';

export function checkOrder({ effects, states, attempts }: Lives): Violation[] {
  const violations: Violation[] = [];
  for (const [visitId, line] of effects) {
    let begunAt = -Infinity;
    for (const { place, key, write } of line) {
      const made = states.get(visitId)?.[place - 1]?.revision;
      if (made !== write.expectedRevision) {
        violations.push(
          violation('stale-write', `${key} expected revision ${write.expectedRevision} of visit ${visitId}, which was at ${made} before number ${place}`),
        );
      }
      const own = (attempts.get(key) ?? []).filter((attempt) => attempt.write === write);
      const overAt = Math.min(...own.filter(isAcknowledged).map(({ endedAt }) => endedAt));
      if (overAt < begunAt)
        violations.push(violation('order-against-time', `number ${place} of visit ${visitId} was acknowledged before one with a lower number was sent`));
      begunAt = Math.max(begunAt, Math.min(...own.map(({ invokedAt }) => invokedAt)));
    }
  }
  return violations;
}
