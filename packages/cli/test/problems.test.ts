import { ConnectionError, CopyMovedError, TruckrollError } from '@truckroll/client';
import { EXIT, Failure } from '../src/terminal/failure.ts';
import { explain, waitingReason } from '../src/copy/problems.ts';

const answered = (status: number, code: TruckrollError['code'] = 'INTERNAL_ERROR', details: TruckrollError['details'] = []): TruckrollError =>
  new TruckrollError({ code, message: 'no', details, requestId: 'r-1' }, new Response(null, { status }));
const cursor = { location: 'query', field: 'cursor', code: 'INVALID_CURSOR', message: 'no' } as const;

test.each<[string, Error, number, RegExp]>([
  ['an answer of 499', answered(499), EXIT.refused, /answered 499 \(request r-1\): no$/],
  ['an answer of 500', answered(500), EXIT.unreachable, /answered 500 \(request r-1\): no$/],
  ['a fault of a parameter', answered(400, 'INVALID_REQUEST', [{ ...cursor, field: 'kinds', code: 'MISSING' }]), EXIT.refused, /answered 400 .*: kinds: no$/],
  ['a refused key', answered(401, 'UNAUTHENTICATED'), EXIT.refused, /does not accept the key: no$/],
  ['a cursor of another company', answered(400, 'INVALID_CURSOR'), EXIT.refused, /copy\.db is a copy of another company/],
  ['a cursor among other problems', answered(400, 'INVALID_REQUEST', [cursor]), EXIT.refused, /copy\.db is a copy of another company/],
  ['an API without the feed', answered(404, 'NOT_FOUND'), EXIT.refused, /has no change feed/],
  ['no answer', new ConnectionError('GET /', new Error('gone')), EXIT.unreachable, /does not answer/],
  ['another program on the copy', new CopyMovedError(), EXIT.refused, /Another program keeps copy\.db up to date/],
  ['a full disk', Object.assign(new Error('full'), { errcode: 13 }), EXIT.unreachable, /the disk is full/],
  ['an extended code of a locked file', Object.assign(new Error('busy'), { errcode: 5 + 256 }), EXIT.unreachable, /another program is writing/],
  ['an unknown code', Object.assign(new Error('odd'), { errcode: 99 }), EXIT.unreachable, /SQLite says: odd/],
])('explains %s', (_, error, exitCode, message) => {
  const failure = explain(error, 'copy.db', 'http://api') as Failure;
  expect(failure).toBeInstanceOf(Failure);
  expect([failure.exitCode, failure.message]).toEqual([exitCode, expect.stringMatching(message)]);
});

test('leaves an error that it does not know', () => {
  const error = new Error('a defect');
  expect(explain(error, 'copy.db', 'http://api')).toBe(error);
});

test('mentions a wait from the third attempt or ten seconds on', () => {
  const retry = (attempts: number, pauseMs: number, error: Error = answered(503)) => ({ method: 'GET', url: '/', attempts, pauseMs, error });
  expect([retry(2, 9999), retry(4, 9999)].map(waitingReason)).toEqual([undefined, undefined]);
  expect([retry(3, 1), retry(1, 10_000)].map(waitingReason)).toEqual(['no Trying again.', 'no Trying again.']);
  expect(waitingReason(retry(1, 10_001, answered(429, 'RATE_LIMITED')))).toBe('The key’s limit is reached; waiting 11 s.');
  expect(waitingReason(retry(3, 1, new ConnectionError('GET /', new Error('gone'))))).toBe('The API does not answer. Trying again.');
});
