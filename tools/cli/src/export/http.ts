// Reads from the public API, retried after Retry-After. The client of @truckroll/client is not used: it limits retries by number
// rather than by time, and takes 1.2 times as long for a page.
import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterSeconds } from '@truckroll/client';
import { backoffMs } from '@truckroll/process';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { reasonsOf, type AnsweredError, type OptionOf } from '@truckroll/integrator-cli/terminal/reasons';

export interface ApiClientOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
  onWaiting?(reason: string): void;
  /** Longest time in ms that the API may be unavailable. */
  readonly maxRetryMs?: number;
  /** Timeout of each attempt, in ms. */
  readonly longestAnswerMs?: number;
  readonly optionOf?: OptionOf;
}

export type ExportQuery = Readonly<Record<string, string | readonly string[]>>;

const MAX_RETRY_MS = 60_000;
const LONGEST_ANSWER_MS = 30_000;
/** Longest pause, in ms: timers take no more than 24 days. */
const MAX_PAUSE_MS = 86_400_000;
const PASSING = new Set([429, 502, 503, 504]);

/** The body of a successful answer. Throws Failure. */
export async function readApi(path: string, query: ExportQuery, options: ApiClientOptions): Promise<unknown> {
  const url = new URL(options.baseUrl + path);
  for (const [name, values] of Object.entries(query)) for (const value of [values].flat()) url.searchParams.append(name, value);
  let awaySince: number | undefined;
  for (let failures = 1; ; failures += 1) {
    const answer = await attempt(url, options);
    if (answer.status === 200) return answer.body;
    if (!PASSING.has(answer.status)) throw refusal(answer, path, options);
    // Reaching a limit does not count as unavailable: it always ends.
    if (answer.status !== 429) awaySince ??= performance.now();
    if (awaySince !== undefined && performance.now() - awaySince > (options.maxRetryMs ?? MAX_RETRY_MS)) throw away(options, answer);
    const asked = Math.min(MAX_PAUSE_MS, (answer.retryAfterSeconds ?? 0) * 1000);
    const pause = Math.max(answer.status === 429 ? 1000 : 0, asked, backoffMs(failures));
    const reason = answer.status === 429 ? 'The key’s limit is reached' : 'The API does not answer';
    if (pause >= 2000 || failures === 3) options.onWaiting?.(`${reason}; waiting ${Math.ceil(pause / 1000)} s.`);
    await delay(pause, undefined, { signal: options.signal });
  }
}

interface Answer {
  /** 503 if there was no answer. */
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfterSeconds?: number | undefined;
}

async function attempt(url: URL, { apiKey, signal, longestAnswerMs = LONGEST_ANSWER_MS }: ApiClientOptions): Promise<Answer> {
  try {
    const response = await fetch(url, {
      // Uncompressed for the reason that the client package has.
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'accept-encoding': 'identity' },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestAnswerMs)]),
    });
    const text = await response.text();
    return { status: response.status, body: parse(text), retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after')) };
  } catch {
    signal.throwIfAborted();
    // Refused, reset, too slow, or cut off: temporary failures, which are reported if they last.
    return { status: 503 };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal({ status, body }: Answer, path: string, { optionOf }: ApiClientOptions): Failure {
  const error = (body as { error?: AnsweredError & { request_id?: string } } | undefined)?.error;
  if (status === 401) return new Failure(`The API does not accept the key: ${error?.message ?? 'issue another with `truckroll key create`.'}`, EXIT.refused);
  const reference = error?.request_id === undefined ? '' : ` (request ${error.request_id})`;
  const reasons = error === undefined ? 'this is not a Truckroll API.' : reasonsOf(error, optionOf);
  return new Failure(`GET ${path} was answered ${status}${reference}: ${reasons}`, EXIT.refused);
}

function away({ baseUrl }: ApiClientOptions, { body }: Answer): Failure {
  const message = (body as { error?: { message?: string } } | undefined)?.error?.message;
  const howTo = 'start it with `npm start`, or set --url or TRUCKROLL_URL to where it runs.';
  return new Failure(`The API at ${baseUrl} does not answer: ${message ?? howTo}`, EXIT.unreachable);
}
