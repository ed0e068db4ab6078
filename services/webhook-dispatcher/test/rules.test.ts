import { retryAfterSeconds } from '../src/send/retry-after.ts';
import type { ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { endpointAnswers } from '../src/send/attempt.ts';
import { CLOSED, Circuits, afterFailure, afterSuccess, atTime, type Circuit } from '../src/send/circuits.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

test.each([
  ['0', 0],
  ['120', 120],
  [' 7 ', 7],
  ['99999999999999999999', 315_360_000],
  ['Sun, 01 Mar 2026 12:02:00 GMT', 120],
  ['Sunday, 01-Mar-26 12:02:00 GMT', 120],
  ['Sun Mar  1 12:02:00 2026', 120],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-03-01T12:02:00Z', undefined],
  ['on Sun, 01 Mar 2026 12:02:00 GMT', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads Retry-After %p as %p seconds', (value, seconds) => {
  expect(retryAfterSeconds(value, now)).toBe(seconds);
});

test.each([
  [0, 120],
  [1, 120],
  [999, 120],
  [1000, 119],
  [120_000, 0],
  [120_001, 0],
])('rounds up the time until the date in Retry-After, %i ms on', (ms, seconds) => {
  expect(retryAfterSeconds('Sun, 01 Mar 2026 12:02:00 GMT', now + ms)).toBe(seconds);
});

test('limits Retry-After to ten years', () => {
  const asked = ['315360000', '315360001', 'Thu, 01 Mar 2046 12:02:00 GMT'];
  expect(asked.map((value) => retryAfterSeconds(value, now))).toEqual([315_360_000, 315_360_000, 315_360_000]);
});

test.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
  [399, false],
  [400, true],
  [428, true],
  // Rate limiting counts as a failure.
  [429, false],
  [430, true],
  [499, true],
  [500, false],
  [null, false],
])('takes status %p as proof that the endpoint works: %p', (response_status, well) => {
  const report = { response_status, error: 'ATTEMPT_ERROR_UNSPECIFIED' } as ReportRequest;
  expect(endpointAnswers(report)).toBe(well);
  expect(endpointAnswers({ ...report, error: 'ATTEMPT_ERROR_EXCHANGE' })).toBe(false);
});

function failing(times: number, circuit: Circuit = CLOSED): Circuit {
  return times === 0 ? circuit : failing(times - 1, afterFailure(circuit, now));
}

test('opens a circuit at the fifth failure in a row', () => {
  expect(failing(4)).toEqual({ state: 'closed', failures: 4 });
  expect(failing(5)).toEqual({ state: 'open', until: now + 5000, coolDownMs: 5000 });
  expect(failing(4, afterSuccess())).toMatchObject({ state: 'closed' });
});

test('does not extend an open circuit for failures of exchanges that began before it opened', () => {
  expect(failing(50)).toEqual(failing(5));
});

test('opens a half-open circuit for twice as long after a failure, up to a minute, and closes it after a success', () => {
  let circuit = failing(5);
  expect(atTime(circuit, now + 4999)).toBe(circuit);
  const seconds: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    circuit = afterFailure(atTime(circuit, now + 1_000_000), now);
    seconds.push((circuit as { coolDownMs: number }).coolDownMs / 1000);
  }
  expect(seconds).toEqual([10, 20, 40, 60, 60, 60]);
  expect(afterSuccess()).toBe(CLOSED);
});

test('lets one exchange begin in a half-open circuit, and excludes the endpoint until it ends', () => {
  const circuits = new Circuits();
  for (let i = 0; i < 5; i += 1) circuits.failed('dead', now);
  expect(circuits.excluded(now)).toEqual(['dead']);
  expect([circuits.nextAt(now), circuits.nextAt(now + 5000)]).toEqual([now + 5000, undefined]);
  const later = now + 5000;
  expect(circuits.excluded(later)).toEqual([]);
  expect([circuits.mayBegin('dead', later), circuits.mayBegin('dead', later), circuits.mayBegin('well', later)]).toEqual([true, false, true]);
  expect(circuits.excluded(later)).toEqual(['dead']);
  circuits.close('dead');
  expect(circuits.mayBegin('dead', later)).toBe(true);
  expect(circuits.excluded(later)).toEqual([]);
});

function openCircuits(...failedAt: [id: string, at: number][]): Circuits {
  const circuits = new Circuits();
  for (const [id, at] of failedAt) for (let i = 0; i < 5; i += 1) circuits.failed(id, at);
  return circuits;
}

test('counts open circuits, excludes their endpoints, and finds the first that becomes half-open', () => {
  const circuits = openCircuits(['late', now + 2000], ['early', now]);
  circuits.failed('failed once', now);
  const standing = (at: number) => [circuits.open(at), circuits.excluded(at).toSorted(), circuits.nextAt(at)];
  expect(standing(now + 2000)).toEqual([2, ['early', 'late'], now + 5000]);
  expect(standing(now + 5000)).toEqual([1, ['late'], now + 7000]);
  expect(standing(now + 7000)).toEqual([0, [], undefined]);
  expect(circuits.openUntil('failed once', now)).toBe(0);
  expect([circuits.openUntil('never failed', now), circuits.isOpen('never failed', now)]).toEqual([0, false]);
});

test('tests a half-open circuit by another exchange if the first one did not take place', () => {
  const circuits = openCircuits(['dead', now]);
  const later = now + 5000;
  expect([circuits.mayBegin('dead', later), circuits.mayBegin('dead', later)]).toEqual([true, false]);
  circuits.notTried('dead');
  expect(circuits.excluded(later)).toEqual([]);
  expect([circuits.mayBegin('dead', later), circuits.mayBegin('dead', later)]).toEqual([true, false]);
});

test('opens a half-open circuit again after a failure, and tests it when that time is over', () => {
  const circuits = openCircuits(['dead', now]);
  const later = now + 5000;
  expect(circuits.openUntil('dead', later)).toBeUndefined();
  circuits.mayBegin('dead', later);
  circuits.failed('dead', later);
  expect([circuits.openUntil('dead', later), circuits.open(later)]).toEqual([later + 10_000, 1]);
  expect(circuits.excluded(later + 10_000)).toEqual([]);
  expect(circuits.mayBegin('dead', later + 10_000)).toBe(true);
});

test('keeps a circuit closed that has fewer than five failures in a row', () => {
  const circuits = new Circuits();
  for (let i = 0; i < 4; i += 1) circuits.failed('shaky', now);
  expect([circuits.mayBegin('shaky', now), circuits.mayBegin('shaky', now), circuits.isOpen('shaky', now)]).toEqual([true, true, false]);
  circuits.close('shaky');
  for (let i = 0; i < 4; i += 1) circuits.failed('shaky', now);
  expect(circuits.isOpen('shaky', now)).toBe(false);
  circuits.failed('shaky', now);
  expect(circuits.isOpen('shaky', now)).toBe(true);
});
