import { retryAfterSeconds } from './retry-after.ts';
import type { ErrorCode, ErrorDetail } from './types.ts';

/** The API answered with an error. Branch on `code`; `message`, which has the first detail, and `details` are for people. */
export class TruckrollError extends Error {
  override readonly name = 'TruckrollError';
  /** UNRECOGNIZED: the answer did not come from Truckroll. A proxy may have sent it, or `baseUrl` is wrong. */
  readonly code: ErrorCode | 'UNRECOGNIZED';
  readonly status: number;
  /** All problems of the request, not only the first. */
  readonly details: readonly ErrorDetail[];
  /** Id to quote when you ask for help. */
  readonly requestId: string | undefined;
  /** Seconds to wait before trying again, from Retry-After, a number or a date. */
  readonly retryAfterSeconds: number | undefined;
  /** The original response; its body can still be read. */
  readonly response: Response;

  constructor({ code, message, details, requestId }: Pick<TruckrollError, 'code' | 'message' | 'details' | 'requestId'>, response: Response) {
    super(withFirst(message, details));
    this.code = code;
    this.status = response.status;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds(response.headers.get('retry-after'));
    this.response = response;
  }

  /** The visit's current revision, with STALE_REVISION. Read the visit again before you write with it. */
  get currentRevision(): string | undefined {
    return this.details.find((detail) => detail.current_revision !== undefined)?.current_revision;
  }
}

/** No complete answer arrived, so a write may or may not have been done: send it again under the same idempotency key. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** An attempt took longer than `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** Whether a held poll ended because of what stands between: the connection was cut, or a proxy's time was up. */
export function wasCut(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof TruckrollError && error.code === 'UNRECOGNIZED' && error.status >= 500);
}

function withFirst(message: string, [first, ...others]: readonly ErrorDetail[]): string {
  if (first === undefined) return message;
  const more = others.length === 0 ? '' : ` (and ${others.length} more, in details)`;
  return `${message} ${first.location} ${first.field}: ${first.message}${more}`;
}

/** `asked` is the method and address of the request. */
export async function errorOf(response: Response, asked: string): Promise<TruckrollError> {
  const said = parsed(await response.clone().text());
  if (said !== undefined) {
    const { code, message, request_id: requestId, details } = said;
    return new TruckrollError({ code, message, requestId, details: details ?? [] }, response);
  }
  return unrecognized(response, asked);
}

export function unrecognized(response: Response, asked: string): TruckrollError {
  const { status, headers } = response;
  const type = headers.get('content-type')?.replace(/;.*/, '') ?? 'no content type';
  const remedy = status === 429 || status >= 500 ? 'A proxy in between may have sent it' : 'Check that baseUrl is the address of the API, without a page';
  const message = `${asked.replace(/\?.*/, '')} was answered ${status} with ${type}, not by Truckroll. ${remedy}.`;
  return new TruckrollError({ code: 'UNRECOGNIZED', message, requestId: response.headers.get('x-request-id') ?? undefined, details: [] }, response);
}

interface ErrorBody {
  code: ErrorCode;
  message: string;
  request_id: string;
  details?: ErrorDetail[];
}

function parsed(text: string): ErrorBody | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: ErrorBody };
    return typeof error?.code === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
