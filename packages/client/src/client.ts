import createFetchClient from 'openapi-fetch';
import { CHANGES, readChanges, type ChangeKind, type ChangesOptions, type ChangesPage } from './changes.ts';
import { compareCopy, type Comparison } from './digest.ts';
import { unrecognized } from './errors.ts';
import { send, type Fetch, type Retry } from './send.ts';
import { syncChanges, type SyncOptions, type SyncStore } from './sync.ts';
import type { Answer, Argument, BodyOf, CallOptions, Method, OperationAt, PageOf, PagedPath, PathsWith, RecordOf, components, paths } from './types.ts';

export interface ClientOptions {
  /** Address of the API: `https://api.example.com`, or with the path of a proxy in front of it. */
  baseUrl: string;
  /** An API key, or a user's token for changes under `/api/v1`. A function is called before every request. */
  token: string | (() => string | Promise<string>);
  /** Timeout of each attempt, in milliseconds. Default: 30,000. */
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
export interface Client {
  get<P extends PathsWith<'get'>>(path: P, ...input: Argument<OperationAt<P, 'get'>>): Promise<Answer<BodyOf<OperationAt<P, 'get'>>>>;
  post<P extends PathsWith<'post'>>(path: P, ...input: Argument<OperationAt<P, 'post'>>): Promise<Answer<BodyOf<OperationAt<P, 'post'>>>>;
  patch<P extends PathsWith<'patch'>>(path: P, ...input: Argument<OperationAt<P, 'patch'>>): Promise<Answer<BodyOf<OperationAt<P, 'patch'>>>>;
  delete<P extends PathsWith<'delete'>>(path: P, ...input: Argument<OperationAt<P, 'delete'>>): Promise<Answer<BodyOf<OperationAt<P, 'delete'>>>>;
  /** Iterates over the records of a list, or the rows of a report, and reads each page when it is needed. */
  list<P extends PagedPath>(path: P, ...input: Argument<OperationAt<P, 'get'>>): AsyncGenerator<RecordOf<P>, void, void>;
  /** Iterates over whole pages; a page's `pagination` holds the cursor to continue with later. */
  pages<P extends PagedPath>(path: P, ...input: Argument<OperationAt<P, 'get'>>): AsyncGenerator<PageOf<P>, void, void>;
  /** Iterates over pages of the change feed. Without a cursor it begins with every record. Repeats failed requests as other reads. */
  changes(options?: ChangesOptions): AsyncGenerator<ChangesPage, void, void>;
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

const TIMEOUT_MS = 30_000;

type Input = CallOptions & { path?: object; query?: Record<string, unknown>; body?: unknown; idempotencyKey?: string; held?: boolean };
interface Page {
  data: unknown[];
  pagination: { next_cursor?: string | null; nextCursor?: string | null };
}

/** The address without a final slash, `/v1` or `/api/v1`, which the paths of operations begin with. Throws TypeError. */
function baseOf(baseUrl: unknown): string {
  const [, base] = (typeof baseUrl === 'string' && /^(https?:\/\/[^/?#][^?#]*?)(?:(?:\/api)?\/v1)?\/*$/i.exec(baseUrl.trim())) || [];
  if (base === undefined)
    throw new TypeError(`createClient needs the API's address as baseUrl, such as https://api.example.com, without a query: got ${String(baseUrl)}.`);
  return base;
}

/** A client of the API at `baseUrl`. Throws TypeError if that is no HTTP address or the token is empty. Connects at the first call. */
export function createClient(options: ClientOptions): Client {
  // Looked up at each call, because tests and instrumentation replace the global.
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const http = createFetchClient<paths>({ baseUrl: baseOf(options.baseUrl) });
  if (!options.token) throw new TypeError('createClient needs a token: an API key, or a function that returns one.');

  async function raw(method: Method, path: string, input: Input = {}): Promise<Response> {
    const writes = REPEATABLE_WRITES.includes(`${method} ${path}`);
    const token = typeof options.token === 'function' ? await options.token() : options.token;
    const limits = {
      retries: method === 'get' || writes ? (options.retries ?? 5) : 0,
      longestWaitSeconds: options.longestWaitSeconds ?? 90,
    };
    const { response } = await http.request(
      method,
      path as never,
      {
        params: { path: input.path, query: input.query },
        body: input.body,
        headers: {
          accept: 'application/json',
          // Node's fetch throws an uncaught AssertionError if the connection closes while a compressed answer above 128 KB is
          // still being decompressed (nodejs/undici#5360).
          'accept-encoding': 'identity',
          ...options.headers,
          ...input.headers,
          authorization: `Bearer ${token}`,
          ...(writes && { 'idempotency-key': input.idempotencyKey ?? crypto.randomUUID() }),
        },
        // raw() returns the body unread; call() parses it.
        parseAs: 'stream',
        fetch: (request: Request) =>
          send(request, {
            fetch,
            ...limits,
            timeoutMs: input.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS,
            held: input.held ?? false,
            signal: input.signal,
            onRetry: options.onRetry,
          }),
      } as never,
    );
    return response;
  }

  async function call<B = object>(method: Method, path: string, input?: Input): Promise<Answer<B>> {
    const response = await raw(method, path, input);
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    if (typeof body !== 'object' || body === null) throw unrecognized(response);
    return { ...(body as B), response, requestId: response.headers.get('x-request-id') ?? '' };
  }

  async function* pages(path: string, input: Input = {}): AsyncGenerator<Answer<Page>, void, void> {
    for (let { query } = input; ; ) {
      const page = await call<Page>('get', path, { ...input, query } as Input);
      yield page;
      const cursor = page.pagination.next_cursor ?? page.pagination.nextCursor;
      if (cursor == null) return;
      query = { ...query, cursor };
    }
  }

  async function* list(path: string, input?: Input): AsyncGenerator<unknown, void, void> {
    for await (const { data } of pages(path, input)) yield* data;
  }

  const changes = (input: ChangesOptions = {}) =>
    readChanges((each) => call<ChangesPage>('get', CHANGES, each), input, input.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS);

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

  const by = (method: Method) => (path: string, input?: Input) => call(method, path, input);
  return { get: by('get'), post: by('post'), patch: by('patch'), delete: by('delete'), list, pages, changes, sync, verify, raw } as unknown as Client;
}
