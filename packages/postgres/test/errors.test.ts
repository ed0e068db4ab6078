import { ApiError } from '@truckroll/contract';
import pg from 'pg';
import { PoolerError, StatementError, isContention, isUnavailable, isUniqueViolation } from '../src/index.ts';
import { DatabaseClientError, isLockTimeout, translateDatabaseError } from '../src/errors.ts';

function refused(state: string | undefined, constraint?: string): pg.DatabaseError {
  const error = new pg.DatabaseError('duplicate key of Ana', 0, 'error');
  error.code = state;
  error.constraint = constraint;
  return error;
}

const withCode = (code: string): Error => Object.assign(new Error('connect to db.internal failed'), { code });

test.each([
  ['a lost connection', '08006'],
  ['a refused log-in', '28P01'],
  ['too many connections', '53300'],
  ['a server that shuts down', '57P01'],
  ['a cancelled statement', '57014'],
  ['a system error', '58030'],
  ['a lock timeout', '55P03'],
  ['a standby', '25006'],
  ['a missing database', '3D000'],
  ['a transaction that was idle for too long', '25P03'],
])('%s (%s) is an unavailable database, with the cause for the log only', (_, state) => {
  const cause = refused(state);
  const error = translateDatabaseError(cause);
  expect(error).toMatchObject({ status: 503, code: 'INTERNAL_ERROR', cause });
  expect([isUnavailable(error), isContention(error), isLockTimeout(error)]).toEqual([true, false, state === '55P03']);
  expect(error.message).not.toContain('Ana');
});

test('a change of a frozen company is unavailable, says so, and is no lock timeout', () => {
  const error = translateDatabaseError(refused('55P03', 'frozen'));
  expect(error).toMatchObject({ status: 503, retryAfterSeconds: 5, message: expect.stringContaining('The company is frozen') });
  expect([isUnavailable(error), isLockTimeout(error)]).toEqual([true, false]);
});

test.each([
  ['a violated constraint', '23505'],
  ['a wrong statement', '42601'],
  ['an object that is in use', '55006'],
  ['a failed transaction', '25P02'],
  ['a missing schema', '3F000'],
  ['no state', undefined],
])('%s (%s) is a refused statement', (_, state) => {
  const error = translateDatabaseError(refused(state, 'thing_pkey'));
  expect(error).toBeInstanceOf(StatementError);
  expect(error).toMatchObject({ sqlState: state ?? 'XX000', constraint: 'thing_pkey' });
  expect([isUnavailable(error), error.message]).toEqual([false, `PostgreSQL refused a statement (${state ?? 'XX000'} thing_pkey)`]);
});

test('a protocol violation is unavailable only if the connection ended, as PgBouncer says of whatever ended it', () => {
  const violation = Object.assign(refused('08P01'), { severity: 'ERROR' });
  expect(translateDatabaseError(violation)).toMatchObject({ sqlState: '08P01' });
  expect(isUnavailable(translateDatabaseError(Object.assign(violation, { severity: 'FATAL' })))).toBe(true);
});

test.each([
  ['40001', true],
  ['40P01', true],
  ['40002', false],
  ['23505', false],
])('the state %s is contention, which a retry may resolve: %p', (state, contention) => {
  expect(isContention(translateDatabaseError(refused(state)))).toBe(contention);
});

test('recognises the violation of a unique constraint, of any or of the given one', () => {
  const error = translateDatabaseError(refused('23505', 'thing_pkey'));
  expect([isUniqueViolation(error), isUniqueViolation(error, 'thing_pkey'), isUniqueViolation(error, 'other')]).toEqual([true, true, false]);
  expect(isUniqueViolation(translateDatabaseError(refused('23503', 'thing_pkey')))).toBe(false);
  expect(isUniqueViolation(refused('23505'))).toBe(false);
});

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'],
])('a socket error %s is an unavailable database, also as the first of several', (code) => {
  for (const error of [withCode(code), new AggregateError([withCode(code), withCode('EINVAL')])]) {
    expect(translateDatabaseError(error)).toMatchObject({ status: 503, cause: error });
  }
  expect(translateDatabaseError(new AggregateError([withCode('EINVAL'), withCode(code)]))).toBeInstanceOf(DatabaseClientError);
});

test.each([
  'Connection terminated unexpectedly',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Cannot use a pool after calling end on the pool',
])('"%s" from the client is an unavailable database, but not in the middle of another message', (message) => {
  expect(translateDatabaseError(new Error(message))).toMatchObject({ status: 503 });
  expect(translateDatabaseError(new Error(`no ${message}`))).toBeInstanceOf(DatabaseClientError);
});

test('returns translated errors and numbers that do not fit unchanged, and hides all others', () => {
  const known = [ApiError.invalid([]), new StatementError('23505', undefined, new Error('x')), new RangeError('beyond 2^53 - 1')];
  expect(known.map(translateDatabaseError)).toEqual(known);
  for (const unknown of [new TypeError('secret'), 'secret', undefined]) {
    const error = translateDatabaseError(unknown);
    expect(error).toBeInstanceOf(DatabaseClientError);
    expect([error.message, error.cause]).toEqual(['the database client failed', unknown]);
  }
});

test('a pooler that lacks something is an unavailable database whose cause says what to change', () => {
  const pooler = new PoolerError('set DATABASE_SESSION_URL');
  expect(translateDatabaseError(pooler)).toMatchObject({ status: 503, cause: pooler });
});
