import type { Attempt } from '../faults/writes/history.ts';
import { failureOf } from './failures.ts';

const write = { kind: 'add', visitId: 'v', technicianId: 't', expectedRevision: 'r', notify: false } as const;
const attempt = (outcome: Partial<Attempt>): Attempt => ({ key: 'k', write, invokedAt: 0, endedAt: 20, ...outcome });
const answered = (status: number, code?: string): Attempt => attempt({ answer: { status, replayed: false, code } });

test('an answer that the visit’s state explains is not a failure', () => {
  expect([201, 200, 409, 404].map((status) => failureOf(answered(status)))).toEqual([undefined, undefined, undefined, undefined]);
});

test('an error that only the system can cause is a failure, including 503', () => {
  expect([429, 500, 503].map((status) => failureOf(answered(status, 'CODE')))).toEqual(
    ['429', '500', '503'].map((status) => `add on visit v by k: ${status} CODE`),
  );
});

test('a broken connection and a missing answer are failures, a client that hangs up is not', () => {
  expect(failureOf(attempt({ lost: 'TypeError: other side closed' }))).toContain('other side closed');
  expect(failureOf(attempt({ lost: 'TimeoutError: timed out', endedAt: 12_000 }))).toContain('timed out');
  expect(failureOf(attempt({ lost: 'TimeoutError: timed out', endedAt: 15 }))).toBeUndefined();
});
