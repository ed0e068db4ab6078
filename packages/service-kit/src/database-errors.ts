import { isNativeError } from 'node:util/types';
import { ApiError } from '@truckroll/contract';
import pg from 'pg';

/** A statement that PostgreSQL refused for a reason that lies in the statement or its data. */
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

/** What the database client itself threw: of its reason nothing is known. */
export class DatabaseClientError extends Error {
  override readonly name = 'DatabaseClientError';

  constructor(cause: unknown) {
    super('the database client failed', { cause });
  }
}

/** A pooler between this process and PostgreSQL does not give what is needed. The message says what to change. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
}

/** True for a broken unique constraint, of that name where one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return error instanceof StatementError && error.sqlState === '23505' && (constraint === undefined || error.constraint === constraint);
}

/** True for a transaction that failed only because of others that ran beside it, so that running it again may succeed. */
export function isContention(error: unknown): boolean {
  return error instanceof StatementError && (error.sqlState === '40001' || error.sqlState === '40P01');
}

/**
 * SQLSTATEs, or the classes they begin with, that say "not now" rather than "not so": connection trouble, exhausted
 * resources, shutdown and start-up, statement and lock timeouts, a standby that cannot write yet, refused log-ins and
 * a database that is being restored.
 */
const PASSING_STATES = ['08', '28', '53', '57', '58', '55P03', '25006', '3D000', '25P03'];

/** Codes of Node's sockets and resolver. */
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

/** What pg itself says without a code. */
const CLIENT_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|The server does not support SSL|There was an error establishing an SSL|Cannot use a pool after calling end)/;

/**
 * The one place where errors of pg become ours: ApiError 503 where PostgreSQL cannot be used now, StatementError where
 * it refused, RangeError for a value that no number holds, DatabaseClientError for anything else. The original stays as
 * the private cause; no message carries SQL or a host name.
 */
export function translateDatabaseError(error: unknown): Error {
  if (error instanceof ApiError || error instanceof StatementError) return error;
  if (error instanceof PoolerError) return ApiError.unavailable(error);
  // Not instanceof: an error of a socket may come from another realm, as in test runners.
  if (!isNativeError(error)) return new DatabaseClientError(error);
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? 'XX000';
    if (PASSING_STATES.some((prefix) => state.startsWith(prefix))) return ApiError.unavailable(error);
    return new StatementError(state, error.constraint, error);
  }
  const code = (error as NodeJS.ErrnoException).code ?? (error as AggregateError).errors?.[0]?.code;
  if ((code !== undefined && SOCKET_CODES.has(code)) || CLIENT_MESSAGES.test(error.message)) return ApiError.unavailable(error);
  // A number in the answer that JavaScript does not hold: that lies in the data.
  return error instanceof RangeError ? error : new DatabaseClientError(error);
}

/** True for a statement that gave up waiting for a lock (lock_timeout). */
export function isLockTimeout(error: unknown): boolean {
  return isUnavailable(error) && ((error as Error).cause as { code?: string } | undefined)?.code === '55P03';
}

/** True where waiting may help: PostgreSQL is starting, stopping, overloaded or out of reach. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503;
}
