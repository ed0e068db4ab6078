// Why a request failed, with the API's message if there is one.
import { retryAfterSeconds } from '@truckroll/client/retry-after';

export interface Detail {
  readonly field?: string;
  readonly code: string;
  readonly message: string;
}

export class Problem extends Error {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: readonly Detail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, given: { status?: number; code?: string; requestId?: string; details?: readonly Detail[]; retryAfterSeconds?: number } = {}) {
    super(message);
    this.name = 'Problem';
    this.status = given.status ?? 0;
    this.code = given.code ?? 'UNREACHABLE';
    this.requestId = given.requestId;
    this.details = given.details ?? [];
    this.retryAfterSeconds = given.retryAfterSeconds;
  }

  static of(error: unknown): Problem {
    if (error instanceof Problem) return error;
    return new Problem(error instanceof Error ? error.message : String(error), { code: 'DEFECT' });
  }
}

/** Reads an error answer. Assumes nothing about its form, because a proxy may have sent it. */
export async function problemOf(response: Response): Promise<Problem> {
  const retryAfter = retryAfterSeconds(response.headers.get('retry-after'));
  const common = { status: response.status, ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }) };
  const requestId = response.headers.get('x-request-id');
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string; request_id: string; details: Detail[] } };
    return new Problem(error.message, { ...common, code: error.code, requestId: error.request_id, details: error.details });
  } catch {
    return new Problem(`The server answered with status ${response.status}.`, { ...common, code: 'UNREADABLE', ...(requestId === null ? {} : { requestId }) });
  }
}
