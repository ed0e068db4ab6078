import { status } from '@grpc/grpc-js';
import { ApiError, ERROR_STATUS, decodeError, encodeError, isRefusedCaller, type ErrorCode } from '../src/index.ts';

const CAUSE = new Error('socket hang up');

test.each<[ErrorCode, number, status]>([
  ['INVALID_REQUEST', 400, status.INVALID_ARGUMENT],
  ['INVALID_CURSOR', 400, status.INVALID_ARGUMENT],
  ['UNAUTHENTICATED', 401, status.UNAUTHENTICATED],
  ['NOT_FOUND', 404, status.NOT_FOUND],
  ['METHOD_NOT_ALLOWED', 405, status.UNIMPLEMENTED],
  ['STALE_REVISION', 409, status.FAILED_PRECONDITION],
  ['IDEMPOTENCY_KEY_REUSED', 409, status.FAILED_PRECONDITION],
  ['IDEMPOTENCY_IN_PROGRESS', 409, status.FAILED_PRECONDITION],
  ['ASSIGNMENT_LOCKED', 409, status.FAILED_PRECONDITION],
  ['ASSIGNMENT_CONFLICT', 409, status.FAILED_PRECONDITION],
  ['LIMIT_REACHED', 409, status.FAILED_PRECONDITION],
  ['RESYNC_REQUIRED', 410, status.FAILED_PRECONDITION],
  ['RATE_LIMITED', 429, status.RESOURCE_EXHAUSTED],
  ['INTERNAL_ERROR', 500, status.INTERNAL],
])('%s has the status %i, and %i between services', (code, http, grpc) => {
  const error = new ApiError(code, 'No.');
  expect([error.status, encodeError(error).grpcCode]).toEqual([http, grpc]);
  expect(Object.keys(ERROR_STATUS)).toHaveLength(14);
});

test('an error arrives with the fields that it was thrown with', () => {
  const details = [
    { location: 'body', field: 'name', code: 'MISSING', message: 'Give a value.' },
    { location: 'body', field: 'expected_revision', code: 'STALE_REVISION', message: 'Read it again.', current_revision: 'r', reason: 'changed' },
  ] as const;
  const thrown = new ApiError('STALE_REVISION', 'It changed.', { details, retryAfterSeconds: 0, status: 503 });
  const { grpcCode, message, trailer } = encodeError(thrown);
  expect([grpcCode, message]).toEqual([status.UNAVAILABLE, 'It changed.']);
  const { code, status: http, details: read, retryAfterSeconds, cause } = decodeError(grpcCode, trailer, CAUSE);
  expect({ code, http, read, retryAfterSeconds, cause }).toMatchObject({
    code: 'STALE_REVISION',
    http: 503,
    read: details,
    retryAfterSeconds: 0,
    cause: CAUSE,
  });
  expect(decodeError(grpcCode, encodeError(new ApiError('NOT_FOUND', 'No.')).trailer, CAUSE).retryAfterSeconds).toBeUndefined();
});

test('an unknown error becomes a 500 that shows nothing of it', () => {
  const { message, trailer, grpcCode } = encodeError(new Error('select * from secrets'));
  expect([message, grpcCode]).toEqual([expect.stringContaining('Quote the request id'), status.INTERNAL]);
  expect(trailer.includes('secrets')).toBe(false);
  expect(ApiError.from(CAUSE)).toMatchObject({ status: 500, code: 'INTERNAL_ERROR', cause: CAUSE });
});

test.each<[string, number, status]>([
  ['unavailable', 503, status.UNAVAILABLE],
  ['late', 503, status.DEADLINE_EXCEEDED],
  ['overloaded', 503, status.RESOURCE_EXHAUSTED],
  ['refused by its credential', 503, status.UNAUTHENTICATED],
  ['refused by its name', 503, status.PERMISSION_DENIED],
  ['unknown', 500, status.UNKNOWN],
  ['invalid', 500, status.INVALID_ARGUMENT],
  ['internal', 500, status.INTERNAL],
])('a call without an error of its peer that is %s is a failure with status %i', (_, http, grpc) => {
  const error = decodeError(grpc, undefined, CAUSE);
  expect([error.status, error.code, error.cause]).toEqual([http, 'INTERNAL_ERROR', CAUSE]);
  expect(error.retryAfterSeconds).toBe(http === 503 ? 5 : undefined);
});

test.each<[string, boolean, unknown]>([
  ['UNAUTHENTICATED', true, ApiError.unavailable(Object.assign(new Error(), { code: status.UNAUTHENTICATED }))],
  ['PERMISSION_DENIED', true, ApiError.unavailable(Object.assign(new Error(), { code: status.PERMISSION_DENIED }))],
  ['UNAVAILABLE', false, ApiError.unavailable(Object.assign(new Error(), { code: status.UNAVAILABLE }))],
  ['no code', false, ApiError.unavailable(new Error())],
  ['no error as its cause', false, ApiError.unavailable({ code: status.UNAUTHENTICATED })],
  [
    'a client that is not authenticated',
    false,
    new ApiError('UNAUTHENTICATED', 'No.', { cause: Object.assign(new Error(), { code: status.UNAUTHENTICATED }) }),
  ],
  ['no ApiError', false, Object.assign(new Error(), { status: 503, cause: { code: status.UNAUTHENTICATED } })],
])('an error with %s says that this component was refused: %p', (_, refused, error) => {
  expect(isRefusedCaller(error)).toBe(refused);
});

test('names each field once, what is missing, and when to try again', () => {
  const detail = (field: string) => ({ location: 'body', field, code: 'MISSING', message: '' }) as const;
  expect(ApiError.invalid([detail('b'), detail('a'), detail('b')])).toMatchObject({
    code: 'INVALID_REQUEST',
    message: 'The request is not valid: see details for b, a.',
    details: [{ field: 'b' }, { field: 'a' }, { field: 'b' }],
  });
  expect(ApiError.notFound().message).toBe('No such record in this company.');
  expect(ApiError.notFound('visit')).toMatchObject({ code: 'NOT_FOUND', status: 404, message: 'No such visit in this company.' });
  expect(ApiError.unavailable(CAUSE)).toMatchObject({ status: 503, retryAfterSeconds: 5, cause: CAUSE });
  expect(ApiError.unavailable(CAUSE, 2).retryAfterSeconds).toBe(2);
});
