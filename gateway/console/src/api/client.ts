// Sends requests to the API with the session's token. Only this module and issuer.ts use the network.
import { endSession, token } from '../state/session.ts';
import { Problem, problemOf } from './problem.ts';

/** Relative to the page's address, whatever path prefix a proxy adds. */
const BASE = new URL('api/v1/integrations/', document.baseURI);
/** Longer than the gateway's deadline for its services. */
const TIMEOUT_MS = 20_000;

type Json = Record<string, unknown>;
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Asking {
  readonly query?: Query;
  readonly body?: object;
  readonly signal?: AbortSignal;
  /** With it the API makes a change once, however often the same request is sent. */
  readonly idempotencyKey?: string;
  /** Replaces the session's token. */
  readonly token?: string;
}

/** The answer's JSON. Throws Problem, or AbortError if the signal aborted. A 401 ends the session. */
export function request(method: string, path: string, asking: Asking = {}): Promise<Json> {
  return send(method, path, asking, 'application/json', (response) => response.json() as Promise<Json>);
}

/** A page of CSV, and its header that leads to the next one. */
export function requestText(path: string, query: Query): Promise<{ body: string; link: string | null }> {
  return send('GET', path, { query }, 'text/csv', async (response) => ({ body: await response.text(), link: response.headers.get('link') }));
}

async function send<T>(method: string, path: string, asking: Asking, accept: string, read: (response: Response) => Promise<T>): Promise<T> {
  const { query = {}, body, signal, idempotencyKey } = asking;
  const bearer = asking.token ?? token();
  if (bearer === undefined) throw new Problem('Sign in again to go on.', { status: 401, code: 'UNAUTHENTICATED' });
  const address = new URL(path, BASE);
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values].flat()) if (value !== undefined && value !== '') address.searchParams.append(name, String(value));
  }
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(address, {
      method,
      headers: {
        accept,
        authorization: `Bearer ${bearer}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (response.ok) return await read(response);
    const problem = await problemOf(response);
    if (problem.status === 401 && asking.token === undefined) endSession(bearer, problem.message);
    throw problem;
  } catch (error) {
    if (error instanceof Problem || signal?.aborted) throw error;
    throw new Problem(unreached(method, timeout.aborted, idempotencyKey !== undefined));
  }
}

function unreached(method: string, late: boolean, once: boolean): string {
  const what = late ? `The API did not answer within ${TIMEOUT_MS / 1000} seconds.` : 'The API could not be reached.';
  if (method === 'GET') return `${what} Check the connection and try again.`;
  return once
    ? `${what} Whether the change was made is not known. Try again: it is made only once.`
    : `${what} Whether the change was made is not known: refresh, and look before you repeat it.`;
}
