// Why a call failed: the API said so, or there was no answer.
import type { ErrorCode, ErrorDetail } from './types.ts';

interface Refusal {
  readonly code: ErrorCode | 'UNRECOGNIZED';
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
}

/** The API answered with an error. `code` tells programs what to do, `message` and `details` tell people. */
export class TruckrollError extends Error {
  override readonly name = 'TruckrollError';
  /** UNRECOGNIZED: the answer is not Truckroll's. Something between may have made it, or the address is another's. */
  readonly code: ErrorCode | 'UNRECOGNIZED';
  /** HTTP status. */
  readonly status: number;
  /** Everything that is wrong with the request, at once. */
  readonly details: readonly ErrorDetail[];
  /** Quote it when you ask for help. */
  readonly requestId: string | undefined;
  /** After how many seconds the API asked to be tried again. */
  readonly retryAfterSeconds: number | undefined;
  /** The answer as it came; its body can still be read. */
  readonly response: Response;

  constructor({ code, message, details, requestId }: Refusal, response: Response) {
    super(message);
    this.code = code;
    this.status = response.status;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfter(response.headers.get('retry-after'));
    this.response = response;
  }

  /** With STALE_REVISION: the visit's revision as it is now. Read the visit before you write with it. */
  get currentRevision(): string | undefined {
    return this.details.find((detail) => detail.current_revision !== undefined)?.current_revision;
  }
}

/** No answer came, or not the whole of it. Whether a write was done is not known: send it again under the same idempotency key. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** An attempt took longer than it may. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** Reads an answer that is no success. */
export async function errorOf(response: Response): Promise<TruckrollError> {
  const said = parsed(await response.clone().text());
  if (said !== undefined) {
    const { code, message, request_id: requestId, details } = said;
    return new TruckrollError({ code, message, requestId, details: details ?? [] }, response);
  }
  return unrecognized(response);
}

/** An answer that is not Truckroll's. */
export function unrecognized(response: Response): TruckrollError {
  const message = `The answer ${response.status} is not Truckroll's: check baseUrl, and what stands between.`;
  return new TruckrollError({ code: 'UNRECOGNIZED', message, requestId: response.headers.get('x-request-id') ?? undefined, details: [] }, response);
}

function parsed(text: string): { code: ErrorCode; message: string; request_id: string; details?: ErrorDetail[] } | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error?.code === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds of a Retry-After in either of its forms. */
function retryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
