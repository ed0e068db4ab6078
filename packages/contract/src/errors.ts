// The one error type that crosses process boundaries (decisions §3): rules throw it, gRPC carries it, the gateway returns it.
import { status as GrpcStatus } from '@grpc/grpc-js';
import { Problem } from './gen/truckroll/errors/v1/errors.ts';

/** Public error codes and their HTTP statuses. INTERNAL_ERROR is a 503 when a dependency is down. */
export const ERROR_STATUS = {
  INVALID_REQUEST: 400,
  INVALID_CURSOR: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  STALE_REVISION: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  ASSIGNMENT_LOCKED: 409,
  ASSIGNMENT_CONFLICT: 409,
  LIMIT_REACHED: 409,
  RESYNC_REQUIRED: 410,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

export type DetailCode =
  | 'UNKNOWN_PARAMETER'
  | 'REPEATED_PARAMETER'
  | 'EMPTY_VALUE'
  | 'INVALID_UUID'
  | 'INVALID_ENUM_VALUE'
  | 'INVALID_FORMAT'
  | 'OUT_OF_RANGE'
  | 'RANGE_ORDER'
  | 'MISSING'
  | 'UNKNOWN_FIELD'
  | 'OUTSIDE_ARRIVAL_WINDOW'
  | 'TOO_LARGE';

/** One problem. A 409 repeats its own code here and adds what the caller needs to continue. */
export interface ErrorDetail {
  location: 'query' | 'path' | 'body' | 'header';
  field: string;
  code: DetailCode | ErrorCode;
  message: string;
  current_revision?: string;
  reason?: string;
}

interface ApiErrorOptions {
  details?: readonly ErrorDetail[];
  retryAfterSeconds?: number;
  /** Logged, never shown to a caller. */
  cause?: unknown;
  status?: number;
  frozen?: boolean;
}

/** Any answer except success. `message` and `details` are for the caller: no SQL, host names or stack traces. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;
  /** Whether a change of a frozen company was refused, which may live in another cell by now. Only between processes. */
  readonly frozen: boolean;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? ERROR_STATUS[code];
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.frozen = options.frozen ?? false;
  }

  static invalid(details: readonly ErrorDetail[]): ApiError {
    const fields = [...new Set(details.map((detail) => detail.field))].join(', ');
    return new ApiError('INVALID_REQUEST', `The request is not valid: see details for ${fields}.`, { details });
  }

  /** 404, the same for a missing record and one of another company. */
  static notFound(what = 'record'): ApiError {
    return new ApiError('NOT_FOUND', `No such ${what} in this company.`);
  }

  /** 503: a dependency does not answer; trying again later is safe. */
  static unavailable(cause: unknown, retryAfterSeconds = 5): ApiError {
    const message = 'The service cannot answer at the moment. Try again after the time in Retry-After.';
    return new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds, cause });
  }

  /** 400: an answer exceeds what a service can send, so no retry helps. */
  static tooLarge(cause: unknown): ApiError {
    const message = 'The answer is larger than 16 MiB, and stays so when it is requested again. Ask for fewer records (limit) or a shorter range.';
    return new ApiError('INVALID_REQUEST', message, { cause });
  }

  static internal(cause: unknown): ApiError {
    const message = 'The request could not be completed. Quote the request id when you report it.';
    return new ApiError('INTERNAL_ERROR', message, { cause });
  }

  static from(error: unknown): ApiError {
    return error instanceof ApiError ? error : ApiError.internal(error);
  }
}

export const ERROR_TRAILER = 'truckroll-error-bin';

const GRPC_BY_STATUS: Record<number, GrpcStatus> = {
  400: GrpcStatus.INVALID_ARGUMENT,
  401: GrpcStatus.UNAUTHENTICATED,
  404: GrpcStatus.NOT_FOUND,
  405: GrpcStatus.UNIMPLEMENTED,
  409: GrpcStatus.FAILED_PRECONDITION,
  410: GrpcStatus.FAILED_PRECONDITION,
  429: GrpcStatus.RESOURCE_EXHAUSTED,
  503: GrpcStatus.UNAVAILABLE,
};

/** What a server sends for an error: `decodeError` restores the ApiError from the trailer. Errors of other kinds become a 500 that does not show them. */
export function encodeError(error: unknown): { grpcCode: GrpcStatus; message: string; trailer: Buffer } {
  const { code, status, message, details, retryAfterSeconds, frozen } = ApiError.from(error);
  const problem: Problem = {
    code,
    status,
    message,
    details: details.map((detail) => ({ ...detail })),
    retry_after_seconds: retryAfterSeconds ?? null,
    frozen,
  };
  return {
    grpcCode: GRPC_BY_STATUS[status] ?? GrpcStatus.INTERNAL,
    message,
    trailer: Buffer.from(Problem.encode(problem).finish()),
  };
}

/** Statuses with which a component rejects a caller whose identity is not proven. They carry no ApiError; clients see a 503 instead. */
const REFUSED: readonly number[] = [GrpcStatus.UNAUTHENTICATED, GrpcStatus.PERMISSION_DENIED];

/** Whether a peer rejected this component's own credential, which an operator must fix. */
export function isRefusedCaller(error: unknown): boolean {
  const cause = error instanceof ApiError && error.status === 503 ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && REFUSED.includes(cause.code as number);
}

/** Decodes a failed call: the ApiError in its trailer, or the meaning of its bare status if the peer sent none. */
export function decodeError(grpcCode: number, trailer: Uint8Array | undefined, cause: unknown): ApiError {
  if (trailer !== undefined) {
    const problem = Problem.decode(trailer);
    return new ApiError(problem.code as ErrorCode, problem.message, {
      status: problem.status,
      details: problem.details as ErrorDetail[],
      cause,
      frozen: problem.frozen,
      ...(problem.retry_after_seconds == null ? {} : { retryAfterSeconds: problem.retry_after_seconds }),
    });
  }
  const passing = [GrpcStatus.UNAVAILABLE, GrpcStatus.DEADLINE_EXCEEDED, GrpcStatus.RESOURCE_EXHAUSTED, ...REFUSED];
  return passing.includes(grpcCode) ? ApiError.unavailable(cause) : ApiError.internal(cause);
}
