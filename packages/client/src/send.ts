// Sends one request with retries: each attempt has a timeout, with a pause between attempts.
import { ConnectionError, TimeoutError, errorOf, wasCut } from './errors.ts';
import { pauseAfter, type RetryLimits } from './repeat.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Retry {
  readonly method: string;
  readonly url: string;
  readonly attempts: number;
  readonly pauseMs: number;
  readonly error: Error;
}

export interface SendOptions extends RetryLimits {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  /** Whether the request is a held poll, which rejects if it was cut. */
  readonly held: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onRetry: ((retry: Retry) => void) | undefined;
}

export interface Sent {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** Resolves to a success with its body read completely. Rejects with the last attempt's error, or with the signal's reason. */
export async function send(url: string, init: Sent, options: SendOptions): Promise<Response> {
  const { method } = init;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(url, init, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const pauseMs = options.held && wasCut(error) ? undefined : pauseAfter(error, attempts, options, Math.random());
      if (pauseMs === undefined) throw error;
      options.onRetry?.({ method, url, attempts, pauseMs, error: error as Error });
      await pause(pauseMs, options.signal);
    }
  }
}

async function attempt(url: string, init: Sent, { fetch, timeoutMs, signal }: SendOptions): Promise<Response> {
  const late = AbortSignal.timeout(Math.ceil(timeoutMs));
  let answer: Response;
  try {
    const response = await fetch(url, { ...init, signal: signal === undefined ? late : AbortSignal.any([signal, late]) });
    // Reads the body here, so that a truncated body counts as a failed attempt.
    answer = new Response(await response.arrayBuffer(), { status: response.status, statusText: response.statusText, headers: response.headers });
  } catch (cause) {
    if (late.aborted) throw new TimeoutError(`${init.method} ${url} had no whole answer within ${timeoutMs} ms.`, { cause });
    throw new ConnectionError(`${init.method} ${url} had no whole answer: the connection failed (${reasonOf(cause)}).`, { cause });
  }
  if (answer.ok) return answer;
  throw await errorOf(answer, `${init.method} ${url}`);
}

/** Why a connection failed. Node has the reason, and its code, in the cause of the error; for a name with several addresses, in the cause's errors. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: Error & { errors?: Error[] } };
  const first = cause?.errors?.[0] ?? cause ?? error;
  const { code, message = String(first), name } = Object(first) as { code?: string; message?: string; name?: string };
  const said = message || name || 'no reason given';
  return code === undefined || said.includes(code) ? said : `${said} (${code})`;
}

/** Rejects with the signal's reason when it is aborted, or at once if it already is. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    // onRetry may have aborted the signal.
    if (signal?.aborted) return void reject(signal.reason);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}
