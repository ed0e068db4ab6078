import { randomBytes } from 'node:crypto';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { acceptanceOf } from '@truckroll/grpc';
import { KeyRing } from '@truckroll/process';
import { testCallers } from '@truckroll/testing';
import fc from 'fast-check';
import { integrationsConfig } from '../src/config.ts';
import { dayOf, dayOfDelivery, deliveryId, firstIdAt } from '../src/webhooks/log/delivery-id.ts';
import { afterChange, deliveryAfter, healthAfter, healthAfterTest, nextAttemptAt, type Health, type Outcome } from '../src/webhooks/health/rules.ts';
import { seriesOf, sinceOf, stateOf, type HealthInputs } from '../src/webhooks/health/read.ts';
import { countAttempts, noCounts } from '../src/webhooks/health/counts.ts';
import { createSecretBox } from '../src/webhooks/endpoints/secrets.ts';

const SECOND = 1_000_000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const { UNSPECIFIED, EXCHANGE } = AttemptError;
const outcome = (fields: Partial<Outcome> = {}): Outcome => ({
  response_status: 500,
  error: UNSPECIFIED,
  started_at: 0,
  ended_at: 0,
  retry_after_seconds: null,
  circuit_open_until: null,
  ...fields,
});
const health = (fields: Partial<Health> = {}): Health => ({
  enabled: true,
  paused: false,
  failing_since: null,
  slowdowns: 0,
  resume_at: null,
  circuit_open_until: null,
  ...fields,
});

test('makes ten attempts: at once, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each within a fifth', () => {
  const pauses = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, seconds] of pauses.entries()) {
    expect(nextAttemptAt(index + 1, outcome(), 0)).toBe(seconds * SECOND * 0.8);
    expect(nextAttemptAt(index + 1, outcome(), 0.5)).toBe(seconds * SECOND);
    expect(nextAttemptAt(index + 1, outcome(), 1)).toBe(seconds * SECOND * 1.2);
  }
  expect(nextAttemptAt(10, outcome(), 0.5)).toBeUndefined();
});

test('takes Retry-After as the minimum pause, up to a day', () => {
  expect(nextAttemptAt(1, outcome({ retry_after_seconds: 60 }), 0.5)).toBe(60 * SECOND);
  expect(nextAttemptAt(1, outcome({ retry_after_seconds: 1 }), 0.5)).toBe(5 * SECOND);
  expect(nextAttemptAt(1, outcome({ retry_after_seconds: 10_000_000 }), 0.5)).toBe(24 * HOUR);
});

test.each([
  [86_399, 86_399],
  [86_400, 86_400],
  [86_401, 86_400],
])('delays the next attempt after a Retry-After of %i s by %i s', (retryAfter, seconds) => {
  expect(nextAttemptAt(1, outcome({ retry_after_seconds: retryAfter, ended_at: 7 }), 0.5)).toBe(seconds * SECOND + 7);
});

test.each([
  [199, 'PENDING'],
  [200, 'SUCCEEDED'],
  [299, 'SUCCEEDED'],
  [300, 'PENDING'],
  [301, 'PENDING'],
  [404, 'PENDING'],
  [500, 'PENDING'],
  [null, 'PENDING'],
] as const)('after status %s, makes a delivery %s', (status, state) => {
  expect(deliveryAfter({ failures: 0, isTest: false, enabled: true }, outcome({ response_status: status }), 0.5).state).toBe(state);
});

test('retries after an incomplete answer, gives up after the last failure, sends tests once, and skips for a disabled endpoint', () => {
  const attempted = { failures: 0, isTest: false, enabled: true };
  expect(deliveryAfter(attempted, outcome({ response_status: 200, error: EXCHANGE }), 0.5).state).toBe('PENDING');
  expect(deliveryAfter({ ...attempted, failures: 9 }, outcome(), 0.5)).toEqual({ state: 'FAILED' });
  expect(deliveryAfter({ ...attempted, isTest: true }, outcome(), 0.5)).toEqual({ state: 'FAILED' });
  expect(deliveryAfter({ ...attempted, enabled: false }, outcome(), 0.5)).toEqual({ state: 'SKIPPED' });
});

test('slows an endpoint down further at 429, 502 and 504, once for concurrent ones, and speeds it up at successes', () => {
  const first = healthAfter(health(), outcome({ response_status: 429, ended_at: SECOND }));
  expect(first).toMatchObject({ slowdowns: 1, resume_at: 2 * SECOND });
  expect(healthAfter(health({ slowdowns: 1, resume_at: 2 * SECOND, failing_since: 0 }), outcome({ response_status: 502, started_at: SECOND }))).toEqual({});
  expect(healthAfter(health({ slowdowns: 3, failing_since: 0 }), outcome({ response_status: 504 }))).toEqual({ slowdowns: 4, resume_at: 8 * SECOND });
  expect(healthAfter(health({ failing_since: 0 }), outcome({ response_status: 429, retry_after_seconds: 90 }))).toMatchObject({ resume_at: 90 * SECOND });
  expect(healthAfter(health({ slowdowns: 3, failing_since: 0 }), outcome({ response_status: 204 }))).toEqual({
    failing_since: null,
    slowdowns: 2,
    resume_at: null,
  });
  expect(healthAfter(health({ failing_since: 0 }), outcome({ response_status: 503 }))).toEqual({});
});

test.each([
  [0, 1],
  [1, 2],
  [7, 128],
  [8, 256],
  [9, 300],
  [10, 300],
])('after %i slow-downs, pauses an endpoint for %i s at the next one', (slowdowns, seconds) => {
  const change = healthAfter(health({ slowdowns, failing_since: 0 }), outcome({ response_status: 429, ended_at: 7 }));
  expect(change).toEqual({ slowdowns: Math.min(slowdowns + 1, 10), resume_at: seconds * SECOND + 7 });
});

test.each([
  [7, 8],
  [9, 9],
  [3600, 3600],
  [3601, 3600],
])('with a slow-down of 8 s and a Retry-After of %i s, pauses an endpoint for %i s', (retryAfter, seconds) => {
  expect(healthAfter(health({ slowdowns: 3, failing_since: 0 }), outcome({ response_status: 429, retry_after_seconds: retryAfter })).resume_at).toBe(
    seconds * SECOND,
  );
});

test('slows an endpoint down further for an exchange that began after the pause', () => {
  const paused = health({ slowdowns: 1, resume_at: 2 * SECOND, failing_since: 0 });
  expect(healthAfter(paused, outcome({ response_status: 429, started_at: 2 * SECOND - 1 }))).toEqual({});
  expect(healthAfter(paused, outcome({ response_status: 429, started_at: 2 * SECOND }))).toMatchObject({ slowdowns: 2 });
});

test('disables an enabled endpoint after five days of only failures', () => {
  const failing = health({ failing_since: 7 });
  expect(healthAfter(failing, outcome({ ended_at: 5 * DAY + 6 }))).toEqual({});
  expect(healthAfter(failing, outcome({ ended_at: 5 * DAY + 7 }))).toEqual({ disable: 'FAILING' });
  expect(healthAfter({ ...failing, enabled: false }, outcome({ ended_at: 5 * DAY + 7 }))).toEqual({});
  expect(healthAfter(health(), outcome({ started_at: 3, ended_at: 9 }))).toEqual({ failing_since: 3 });
});

test('a failed test leaves failing_since alone but can disable the endpoint, and a successful one clears failing_since', () => {
  expect(healthAfterTest(health(), outcome({ response_status: 410 }))).toEqual({ disable: 'GONE' });
  expect(healthAfterTest(health({ failing_since: 7 }), outcome({ response_status: 200 }))).toEqual({ failing_since: null });
});

test('neither disables nor slows down a paused endpoint', () => {
  const paused = health({ paused: true, failing_since: 0 });
  for (const each of [outcome({ response_status: 410 }), outcome({ response_status: 429 }), outcome({ ended_at: 5 * DAY })]) {
    const change = healthAfter(paused, each);
    expect(change).toEqual({});
    expect(afterChange(paused, change)).toEqual(paused);
  }
});

test.each([
  [409, undefined],
  [410, 'GONE'],
  [411, undefined],
])('after status %i, disables an endpoint as %p', (status, disable) => {
  expect(healthAfter(health({ failing_since: 0 }), outcome({ response_status: status })).disable).toBe(disable);
});

const at = 1000 * DAY;
const input = (fields: Partial<HealthInputs>): HealthInputs => ({
  id: 'e',
  company_id: 'c',
  enabled: true,
  paused: false,
  disabled_reason: null,
  failing_since: null,
  slowdowns: 0,
  circuit_open_until: null,
  delivered: 0,
  failed: 0,
  active: true,
  due_at: null,
  ...fields,
});

test.each<[string, Partial<HealthInputs>]>([
  ['HEALTHY', {}],
  ['IDLE', { active: false }],
  ['HEALTHY', { delivered: 95, failed: 5 }],
  ['DEGRADED', { delivered: 949, failed: 51 }],
  ['HEALTHY', { due_at: at - 300 * SECOND }],
  ['DEGRADED', { due_at: at - 300 * SECOND - 1 }],
  ['DEGRADED', { due_at: at - 300 * SECOND - 1, active: false }],
  // Slowed down.
  ['DEGRADED', { slowdowns: 1 }],
  ['DEGRADED', { failing_since: at, delivered: 51, failed: 50 }],
  ['FAILING', { failing_since: at, delivered: 50, failed: 50 }],
  ['FAILING', { circuit_open_until: 0 }],
  ['PAUSED', { paused: true, failing_since: at, circuit_open_until: at }],
  ['DISABLED', { enabled: false, paused: true, failing_since: at, circuit_open_until: at }],
])('shows the state %s with %j', (state, fields) => {
  expect(stateOf(input(fields), at)).toBe(`WEBHOOK_HEALTH_STATE_${state}`);
});

test('ends a chart with the current period, and counts a row in the period of its start', () => {
  const span = { minutes: 60, buckets: 24 };
  expect([sinceOf(span, at), sinceOf(span, at - 1)]).toEqual([at - 23 * HOUR, at - 24 * HOUR]);
  const row = (when: number) => ({ ...noCounts(), delivered: 1, endpoint_id: 'e', at: when });
  const delivered = (...rows: number[]) => seriesOf(rows.map(row), span, at).buckets.map((bucket) => bucket.delivered);
  expect(delivered(at - 23 * HOUR, at - 22 * HOUR - 1, at - 22 * HOUR, at, at + HOUR)).toEqual([2, 1, ...Array<number>(21).fill(0), 2]);
  const slow = { ...row(at), latencies: noCounts().latencies.map((_, bucket) => ({ 0: 92, 20: 8 })[bucket] ?? 0) };
  const { buckets } = seriesOf([slow], span, at);
  expect(buckets.at(-1)).toMatchObject({ p50_ms: 3, p95_ms: expect.any(Number) });
  expect(buckets.at(-1)!.p95_ms).toBeGreaterThan(14_000);
});

test.each([
  [-1, at - 60 * SECOND, at - 1],
  [0, at, at],
  [1, at, at],
  [90 * SECOND, at, at],
])('counts a success that ended %i µs after now in the minute that began at %i, and says that it was at %i', (later, minute, lastSuccessAt) => {
  const attempt = { companyId: 'c', endpointId: 'e', startedAt: at - SECOND, endedAt: at + later, succeeded: true, timed: false };
  expect(countAttempts([attempt], at)).toMatchObject([{ at: minute, minutes: 1, delivered: 1, lastSuccessAt }]);
});

test('takes the circuit from the last report, keeps it if an older dispatcher sends none, and closes it at a success', () => {
  expect(healthAfter(health({ failing_since: 0 }), outcome({ circuit_open_until: 9 }))).toEqual({ circuit_open_until: 9 });
  expect(healthAfter(health({ failing_since: 0, circuit_open_until: 9 }), outcome({ circuit_open_until: 9 }))).toEqual({});
  expect(healthAfter(health({ failing_since: 0, circuit_open_until: 9 }), outcome())).toEqual({});
  expect(healthAfter(health({ failing_since: 0, circuit_open_until: 9 }), outcome({ response_status: 404, circuit_open_until: 0 }))).toEqual({
    circuit_open_until: null,
  });
  expect(healthAfter(health({ failing_since: 0, circuit_open_until: 9 }), outcome({ response_status: 200 }))).toEqual({
    failing_since: null,
    circuit_open_until: null,
  });
});

test('keeps fields that a change does not name, and clears those that are null', () => {
  const all = health({ failing_since: 1, slowdowns: 2, resume_at: 3, circuit_open_until: 4 });
  expect(afterChange(all, {})).toEqual(all);
  expect(afterChange(all, { failing_since: 5, slowdowns: 6, resume_at: 7, circuit_open_until: 8 })).toEqual(
    health({ failing_since: 5, slowdowns: 6, resume_at: 7, circuit_open_until: 8 }),
  );
  expect(afterChange(all, { failing_since: null, slowdowns: 0, resume_at: null, circuit_open_until: null })).toEqual(health());
});

test('leaves an endpoint enabled after a change unless it was disabled before or by it', () => {
  const enabled = ([before, disable]: [boolean, 'GONE' | undefined]): boolean =>
    afterChange(health({ enabled: before }), disable === undefined ? {} : { disable }).enabled;
  const cases: [boolean, 'GONE' | undefined][] = [
    [true, undefined],
    [true, 'GONE'],
    [false, undefined],
    [false, 'GONE'],
  ];
  expect(cases.map(enabled)).toEqual([true, false, false, false]);
});

test('changes nothing at a success of a healthy endpoint', () => {
  expect(healthAfter(health(), outcome({ response_status: 200 }))).toEqual({});
});

test.each([
  [0, '1970-01-01'],
  [1000 * DAY - 1, '1972-09-26'],
  [1000 * DAY, '1972-09-27'],
  [2_932_896 * DAY, '9999-12-31'],
  [2_932_897 * DAY, '9999-12-31'],
])('places %i µs after 1970 on %s, and no day after the year 9999', (micros, day) => {
  expect(dayOf(micros)).toBe(day);
});

test('creates ids with every variant digit of a UUID', () => {
  const digits = Array.from({ length: 200 }, (_, i) => deliveryId(0, `event ${i}`, 'endpoint').charAt(19));
  expect([...new Set(digits)].sort()).toEqual(['8', '9', 'a', 'b']);
});

test('creates one id per event and endpoint, which contains the day and sorts by time', () => {
  const time = fc.integer({ min: 0, max: 4_102_444_800_000_000 });
  fc.assert(
    fc.property(time, time, fc.uuid(), fc.uuid(), (at, other, event, endpoint) => {
      const id = deliveryId(at, event, endpoint);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(deliveryId(at, event, endpoint)).toBe(id);
      expect(dayOfDelivery(id)).toBe(dayOf(at));
      if (event !== endpoint) expect(deliveryId(at, endpoint, event)).not.toBe(id);
      if (Math.floor(at / 1000) < Math.floor(other / 1000)) expect(id < deliveryId(other, event, endpoint)).toBe(true);
    }),
  );
});

test('refuses a configuration with a host name as an allowed target or a denied range', () => {
  const servers = { DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', KAFKA_BROKERS: 'x:1', CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join() };
  const environment = { ...servers, WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  expect(integrationsConfig({ ...environment, WEBHOOK_DENIED_TARGETS: '10.0.0.0/8' }).webhookDeniedTargets).toEqual(['10.0.0.0/8']);
  expect(() => integrationsConfig({ ...environment, WEBHOOK_DENIED_TARGETS: '10.0.0.0/8,intranet' })).toThrow(/WEBHOOK_DENIED_TARGETS.*"intranet"/);
  expect(integrationsConfig({ ...environment, WEBHOOK_ALLOWED_TARGETS: '127.0.0.1:1' }).webhookAllowedTargets).toEqual(['127.0.0.1:1']);
  expect(() => integrationsConfig({ ...environment, WEBHOOK_ALLOWED_TARGETS: 'localhost:1' })).toThrow(/WEBHOOK_ALLOWED_TARGETS.*"localhost:1"/);
});

test('decrypts a signing secret with the key that encrypted it, and only for its own endpoint', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const old = createSecretBox(new KeyRing([['a', first]]));
  const rotated = createSecretBox(
    new KeyRing([
      ['b', second],
      ['a', first],
    ]),
  );
  const secret = Buffer.alloc(32, 7);
  const sealed = old.seal('one', secret);
  expect(sealed.includes(secret)).toBe(false);
  expect(rotated.open('one', sealed)).toEqual(secret);
  expect(() => rotated.open('two', sealed)).toThrow();
  expect(() => old.open('one', rotated.seal('one', secret))).toThrow('lacks the key b');
});

test('ids of deliveries from a time on begin at its first id', () => {
  const at = Date.UTC(2026, 2, 1, 12) * 1000;
  expect(firstIdAt(at + 999)).toBe(firstIdAt(at));
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.integer({ min: 0, max: 2000 }), (event, endpoint, later) => {
      expect(deliveryId(at + later, event, endpoint) >= firstIdAt(at)).toBe(true);
      expect(deliveryId(at - 1 - later, event, endpoint) < firstIdAt(at)).toBe(true);
    }),
  );
  expect(firstIdAt(-1)).toBe('00000000-0000-0000-0000-000000000000');
});
