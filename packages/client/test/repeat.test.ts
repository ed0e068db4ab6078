import { readFileSync } from 'node:fs';
import { REPEATABLE_WRITES } from '../src/client.ts';
import { ConnectionError, TimeoutError, errorOf } from '../src/errors.ts';
import { pauseAfter } from '../src/repeat.ts';

const { spyOn } = jest;
const document = JSON.parse(readFileSync(new URL('../../../gateway/openapi.json', import.meta.url), 'utf8'));
const codes: string[] = document.components.schemas.ApiError.properties.code.enum;
const LIMITS = { retries: 3, longestWaitSeconds: 90 };

const refusal = (code: string, status: number, headers: Record<string, string> = {}) =>
  errorOf(new Response(JSON.stringify({ error: { code, message: 'No.', request_id: 'r', details: [] } }), { status, headers }), 'GET /');

test('only error codes that a later attempt may resolve are retried', async () => {
  const repeated = [];
  for (const code of codes) if (pauseAfter(await refusal(code, 409), 1, LIMITS, 0.5) !== undefined) repeated.push(code);
  expect(repeated).toEqual(['IDEMPOTENCY_IN_PROGRESS', 'RATE_LIMITED', 'INTERNAL_ERROR']);
});

test('a lost connection, a timeout and a 5xx of a load balancer are retried; another unrecognized page is not', async () => {
  for (const error of [new ConnectionError('cut'), new TimeoutError('late'), await errorOf(new Response('<h1>Bad Gateway</h1>', { status: 502 }), 'GET /')]) {
    expect(pauseAfter(error, 1, LIMITS, 0.5)).toBe(100);
  }
  expect(pauseAfter(await errorOf(new Response('<h1>Not Found</h1>', { status: 404 }), 'GET /'), 1, LIMITS, 0.5)).toBeUndefined();
  for (const error of [new TypeError('a defect of the caller'), Object.assign(new Error('of another library'), { code: 'INTERNAL_ERROR' }), undefined]) {
    expect(pauseAfter(error, 1, LIMITS, 0.5)).toBeUndefined();
  }
});

test('a wait lasts at least Retry-After and grows with each attempt; a too long Retry-After or too many attempts end the retries', async () => {
  const limited = (after: string) => refusal('RATE_LIMITED', 429, { 'retry-after': after });
  expect(pauseAfter(await limited('7'), 1, LIMITS, 0)).toBe(7000);
  expect(pauseAfter(await limited('91'), 1, LIMITS, 0)).toBeUndefined();
  expect(pauseAfter(await limited(new Date(Date.now() + 600_000).toUTCString()), 1, LIMITS, 0)).toBeUndefined();
  const error = new ConnectionError('cut');
  expect([1, 2, 3, 4].map((attempts) => pauseAfter(error, attempts, LIMITS, 1))).toEqual([200, 400, 800, undefined]);
  expect(pauseAfter(error, 1, { ...LIMITS, retries: 0 }, 1)).toBeUndefined();
});

test('a wait is a random part of a pause that doubles up to 8 s, after Retry-After if there is one', async () => {
  const error = new ConnectionError('cut');
  const pause = (attempts: number, random: number) => pauseAfter(error, attempts, { ...LIMITS, retries: 100 }, random);
  expect([1, 5, 6, 7, 100].map((attempts) => pause(attempts, 1))).toEqual([200, 3200, 6400, 8000, 8000]);
  expect([0, 0.25, 0.5].map((random) => pause(3, random))).toEqual([0, 200, 400]);
  expect(pauseAfter(await refusal('RATE_LIMITED', 429, { 'retry-after': '7' }), 2, LIMITS, 0.5)).toBe(7200);
});

test.each([
  [400, undefined],
  [428, undefined],
  [429, 200],
  [430, undefined],
  [499, undefined],
  [500, 200],
  [503, 200],
])('a page of a proxy with status %i is retried after %p ms', async (status, ms) => {
  expect(pauseAfter(await errorOf(new Response('<h1>No</h1>', { status }), 'GET /'), 1, LIMITS, 1)).toBe(ms);
});

test.each([
  ['90', 90_000],
  ['91', undefined],
  ['Sun, 01 Mar 2026 12:01:30 GMT', 90_000],
  ['Sun, 01 Mar 2026 12:01:31 GMT', undefined],
  ['Sun, 01 Mar 2026 12:00:01 GMT', 1000],
  ['Sun, 01 Mar 2026 12:00:00 GMT', 0],
  ['Sun, 01 Mar 2026 11:59:59 GMT', 0],
  ['soon', 0],
])('after Retry-After %p, waits for %p ms', async (after, ms) => {
  const now = spyOn(Date, 'now').mockReturnValue(Date.parse('2026-03-01T12:00:00Z'));
  const error = await refusal('RATE_LIMITED', 429, { 'retry-after': after });
  now.mockRestore();
  expect(pauseAfter(error, 1, LIMITS, 0)).toBe(ms);
});

test('the retried writes are exactly those that take an idempotency key in the API description', () => {
  const described = Object.entries<any>(document.paths).flatMap(([path, verbs]) =>
    Object.entries<any>(verbs).flatMap(([verb, { parameters }]) => (parameters.some(({ name }: any) => name === 'Idempotency-Key') ? [`${verb} ${path}`] : [])),
  );
  expect([...REPEATABLE_WRITES].toSorted()).toEqual(described.toSorted());
});
