import { CHANGES, readChanges, type ChangeKind, type ChangesOptions, type ChangesPage } from './changes.ts';
import { compareCopy, type Comparison } from './digest.ts';
import { unrecognized } from './errors.ts';
import { operationTable, type Resources } from './gen/resources.ts';
import { jsonText, limitsOf, queryText, type Limits } from './input.ts';
import { bindAll } from './resources.ts';
import { send, type Fetch, type Retry } from './send.ts';
import { syncChanges, type SyncOptions, type SyncStore } from './sync.ts';
import type { Answer, Argument, BodyOf, CallOptions, Input, Method, OperationAt, PageOf, PagedPath, PathsWith, RecordOf, components, paths } from './types.ts';

export interface ClientOptions {
  /** Address of the API: `https://api.example.com`, or with the path of a proxy in front of it. */
  baseUrl: string;
  /** An API key, or a user's token for changes under `/api/v1`. A function is called before every request. */
  token: string | (() => string | Promise<string>);
  /** Timeout of each attempt, in milliseconds, from 1. Default: 30,000. */
  timeoutMs?: number;
  /** Maximum retries of a read, or of a write with an idempotency key. Default: 5; 0 turns retries off. */
  retries?: number;
  /** Longest Retry-After to wait for, in seconds; a longer one rejects at once. Default: 90, since rate limits ask for up to a minute. */
  longestWaitSeconds?: number;
  headers?: Record<string, string>;
  /** Replaces the platform's fetch. */
  fetch?: Fetch;
  /** Called before each wait. */
  onRetry?: (retry: Retry) => void;
}

/** Calls resolve to the body of a success, and reject with TruckrollError, ConnectionError, TimeoutError or the signal's reason. */
export interface Client extends Resources {
  get<P extends PathsWith<'get'>>(path: P, ...input: Argument<OperationAt<P, 'get'>>): Promise<Answer<BodyOf<OperationAt<P, 'get'>>>>;
  post<P extends PathsWith<'post'>>(path: P, ...input: Argument<OperationAt<P, 'post'>>): Promise<Answer<BodyOf<OperationAt<P, 'post'>>>>;
  put<P extends PathsWith<'put'>>(path: P, ...input: Argument<OperationAt<P, 'put'>>): Promise<Answer<BodyOf<OperationAt<P, 'put'>>>>;
  patch<P extends PathsWith<'patch'>>(path: P, ...input: Argument<OperationAt<P, 'patch'>>): Promise<Answer<BodyOf<OperationAt<P, 'patch'>>>>;
  delete<P extends PathsWith<'delete'>>(path: P, ...input: Argument<OperationAt<P, 'delete'>>): Promise<Answer<BodyOf<OperationAt<P, 'delete'>>>>;
  /** Iterates over the records of a list, or the rows of a report, and reads each page when it is needed. */
  list<P extends PagedPath>(path: P, ...input: Argument<OperationAt<P, 'get'>>): AsyncGenerator<RecordOf<P>, void, void>;
  /** Iterates over whole pages; a page's `pagination` holds the cursor to continue with later. */
  pages<P extends PagedPath>(path: P, ...input: Argument<OperationAt<P, 'get'>>): AsyncGenerator<PageOf<P>, void, void>;
  /** Iterates over pages of the change feed, of the kinds in `kinds`. Without a cursor it begins with every record. Repeats failed requests as other reads. */
  changes<K extends ChangeKind = ChangeKind>(options?: ChangesOptions<K>): AsyncGenerator<ChangesPage<K>, void, void>;
  /**
   * Brings a copy up to date; continues where an earlier call ended, even if its process was killed. Loads the copy again if the database was
   * restored. Resolves to the time up to which the copy is complete; with `follow`, goes on until the signal aborts it.
   */
  sync(store: SyncStore, options?: SyncOptions): Promise<{ asOf: string }>;
  /** Compares a copy with the digests of the API, by kind. The limit is 10 calls a minute. */
  verify(store: SyncStore, options?: CallOptions & { kinds?: readonly ChangeKind[] }): Promise<Comparison[]>;
  /** Resolves to the unparsed response of a success, such as CSV with `headers: { accept: 'text/csv' }`. Errors and retries as in the other calls. */
  raw<M extends Method, P extends PathsWith<M> & keyof paths>(method: M, path: P, ...input: Argument<OperationAt<P, M>>): Promise<Response>;
}

/** Writes that are safe to retry because they take an idempotency key. */
export const REPEATABLE_WRITES: readonly string[] = ['post /v1/job-assignments', 'delete /v1/job-assignments/{id}'];

const STANDARD: Limits = { timeoutMs: 30_000, retries: 5, longestWaitSeconds: 90 };

interface Page {
  data: unknown[];
  pagination?: { next_cursor?: string | null; nextCursor?: string | null };
}

/** The address without a final slash, `/v1` or `/api/v1`, which the paths of operations begin with. Throws TypeError. */
function baseOf(baseUrl: unknown): string {
  const [, base] = (typeof baseUrl === 'string' && /^(https?:\/\/[^/?#][^?#]*?)(?:(?:\/api)?\/v1)?\/*$/i.exec(baseUrl.trim())) || [];
  if (base === undefined)
    throw new TypeError(`createClient needs the API's address as baseUrl, such as https://api.example.com, without a query: got ${String(baseUrl)}.`);
  return base;
}

/** Throws TypeError if a parameter of the path is missing: without an id, the path of a record is the path of its list. */
function addressOf(base: string, template: string, { path = {}, query = {} }: Input): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!path[name]) throw new TypeError(`${template} needs ${name}.`);
    return encodeURIComponent(path[name]);
  });
  return base + filled + queryText(query);
}

/** A client of the API at `baseUrl`. Throws TypeError if that is no HTTP address, the token is empty, or a limit is out of range. Connects at the first call. */
export function createClient(options: ClientOptions): Client {
  // Looked up at each call, because tests and instrumentation replace the global.
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const base = baseOf(options.baseUrl);
  if (!options.token) throw new TypeError('createClient needs a token: an API key, or a function that returns one.');
  const own = limitsOf(options, STANDARD);

  async function raw(method: Method, path: string, input: Input = {}): Promise<Response> {
    const writes = REPEATABLE_WRITES.includes(`${method} ${path}`);
    const url = addressOf(base, path, input);
    const { timeoutMs, retries, longestWaitSeconds } = limitsOf(input, own);
    const { held = 0 } = input;
    const token = (typeof options.token === 'function' ? await options.token() : options.token).trim();
    // Fetch's own error would show the token.
    if (!/^[!-~]+$/.test(token)) throw new TypeError('The token has characters that keys and tokens do not have: copy it again, whole.');
    // Node's fetch throws an uncaught AssertionError if the connection closes while a compressed answer above 128 KB is
    // still being decompressed (nodejs/undici#5360).
    const headers = new Headers({ accept: 'application/json', 'accept-encoding': 'identity' });
    if (input.body !== undefined) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries({ ...options.headers, ...input.headers })) headers.set(name, value);
    headers.set('authorization', `Bearer ${token}`);
    if (writes) headers.set('idempotency-key', input.idempotencyKey ?? crypto.randomUUID());
    const sent = { method: method.toUpperCase(), headers, ...(input.body !== undefined && { body: jsonText(input.body) }) };
    return send(url, sent, {
      fetch,
      retries: method === 'get' || writes ? retries : 0,
      longestWaitSeconds,
      timeoutMs: timeoutMs + held * 1000,
      held: held > 0,
      signal: input.signal,
      onRetry: options.onRetry,
    });
  }

  async function call<B = object>(method: Method, path: string, input?: Input): Promise<Answer<B>> {
    const response = await raw(method, path, input);
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    if (typeof body !== 'object' || body === null) throw unrecognized(response, `${method.toUpperCase()} ${base}${path}`);
    return { ...(body as B), response, requestId: response.headers.get('x-request-id') ?? '' };
  }

  async function* pages(path: string, input: Input = {}): AsyncGenerator<Answer<Page>, void, void> {
    for (let { query } = input; ; ) {
      const page = await call<Page>('get', path, { ...input, query } as Input);
      yield page;
      const cursor = page.pagination?.next_cursor ?? page.pagination?.nextCursor;
      if (cursor == null) return;
      query = { ...query, cursor };
    }
  }

  async function* list(path: string, input?: Input): AsyncGenerator<unknown, void, void> {
    for await (const { data } of pages(path, input)) yield* data;
  }

  const changes = (input: ChangesOptions = {}) => readChanges((each) => call<ChangesPage>('get', CHANGES, each), input);

  const sync = (store: SyncStore, input: SyncOptions = {}) => syncChanges(changes, store, input);

  async function verify(store: SyncStore, { kinds, ...input }: CallOptions & { kinds?: readonly ChangeKind[] } = {}): Promise<Comparison[]> {
    const progress = await store.progress();
    if (progress?.loaded !== true) throw new Error('The copy is not complete: sync it first.');
    const { data } = await call<{ data: components['schemas']['ChangesDigest'][] }>('get', `${CHANGES}/digest`, {
      ...input,
      query: { kinds, cursor: progress.cursor, buckets: 256 },
    });
    return compareCopy(store, data, kinds);
  }

  const listing = (path: string, input: Input) => Object.assign(list(path, input), { pages: () => pages(path, input) });
  const by = (method: Method) => (path: string, input?: Input) => call(method, path, input);
  const named = { get: by('get'), post: by('post'), put: by('put'), patch: by('patch'), delete: by('delete'), list, pages, changes, sync, verify, raw };
  return { ...bindAll(operationTable, call, listing), ...named } as unknown as Client;
}
