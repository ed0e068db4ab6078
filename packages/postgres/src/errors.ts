import { isNativeError } from 'node:util/types';
import { ApiError } from '@truckroll/contract';
import pg from 'pg';
import { FROZEN, companyIsFrozen } from './frozen.ts';

/** PostgreSQL refused a statement because of the statement or its data. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly sqlState: string;
  readonly constraint: string | undefined;

  constructor(sqlState: string, constraint: string | undefined, cause: Error) {
    super(`PostgreSQL refused a statement (${sqlState}${constraint === undefined ? '' : ` ${constraint}`})`, { cause });
    this.sqlState = sqlState;
    this.constraint = constraint;
  }
}

/** The database client itself failed, for an unknown reason. */
export class DatabaseClientError extends Error {
  override readonly name = 'DatabaseClientError';

  constructor(cause: unknown) {
    super('the database client failed', { cause });
  }
}

/** A pooler between this process and PostgreSQL lacks something required. The message says what to change. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
}

/** Whether a unique constraint was violated; if `constraint` is given, that one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return error instanceof StatementError && error.sqlState === '23505' && (constraint === undefined || error.constraint === constraint);
}

/** Whether a transaction failed only because of concurrent ones, so that a retry may succeed. */
export function isContention(error: unknown): boolean {
  return error instanceof StatementError && (error.sqlState === '40001' || error.sqlState === '40P01');
}

/** SQLSTATE of PostgreSQL for what it cannot understand, and of PgBouncer for whatever makes it end a connection. */
const PROTOCOL_VIOLATION = '08P01';

/** SQLSTATEs, or classes, of temporary failures: connections, resources, shutdown, timeouts, a standby, refused log-ins, a database being restored. */
const PASSING_STATES = ['08', '28', '53', '57', '58', '55P03', '25006', '3D000', '25P03'];

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
]);

/** Messages of errors that pg throws without a code. */
const CLIENT_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Cannot use a pool after calling end)/;

/**
 * Translates pg's errors; nothing else does. ApiError 503: PostgreSQL cannot be used now. StatementError: it refused. RangeError: a
 * value does not fit a number. DatabaseClientError: anything else. The original stays as the private cause; no message contains SQL
 * or a host name.
 */
export function translateDatabaseError(error: unknown): Error {
  if (error instanceof ApiError || error instanceof StatementError) return error;
  if (error instanceof PoolerError) return ApiError.unavailable(error);
  // Not instanceof: a socket's error may come from another realm, as in test runners.
  if (!isNativeError(error)) return new DatabaseClientError(error);
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? 'XX000';
    if (error.constraint === FROZEN) return companyIsFrozen(error);
    const isPassing = state === PROTOCOL_VIOLATION ? error.severity === 'FATAL' : PASSING_STATES.some((prefix) => state.startsWith(prefix));
    if (isPassing) return ApiError.unavailable(error);
    return new StatementError(state, error.constraint, error);
  }
  const code = (error as NodeJS.ErrnoException).code ?? ((error as AggregateError).errors as NodeJS.ErrnoException[] | undefined)?.[0]?.code;
  if ((code !== undefined && SOCKET_CODES.has(code)) || CLIENT_MESSAGES.test(error.message)) return ApiError.unavailable(error);
  // A RangeError is about the data: a number in the answer that JavaScript cannot hold.
  return error instanceof RangeError ? error : new DatabaseClientError(error);
}

/** Throws pg's error translated. */
export function rethrow(error: unknown): never {
  throw translateDatabaseError(error);
}

/** Whether the error, an ApiError 503, means that a lock was not granted within lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  const cause = isUnavailable(error) ? ((error as Error).cause as { code?: string; constraint?: string } | undefined) : undefined;
  return cause?.code === '55P03' && cause.constraint !== FROZEN;
}

/** Whether waiting may help: PostgreSQL is starting, stopping, overloaded or unreachable. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503;
}
