import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareCopy } from '../src/digest.ts';
import { createClient, type ChangeKind, type ClientOptions, type SyncPage, type SyncProgress, type SyncStore, type StoredVersion } from '../src/index.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A client of a feed that answers with these pages or statuses, and the queries that arrived. Further polls are held. */
async function feedOf(answers: readonly (object | number)[], options: Partial<ClientOptions> = {}) {
  const asked: Record<string, string>[] = [];
  let holds: () => void;
  const held = new Promise<void>((resolve) => void (holds = resolve));
  server = createServer((request, response) => {
    asked.push(Object.fromEntries(new URL(request.url ?? '', 'http://api').searchParams));
    const what = answers[asked.length - 1];
    if (what === undefined) holds();
    else answer(response, what);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api: createClient({ baseUrl, token: 'trk_', ...options }), asked, held };
}

function answer(response: ServerResponse, what: object | number): void {
  response.setHeader('content-type', 'application/json');
  if (typeof what === 'object') response.end(JSON.stringify(what));
  else response.writeHead(what).end(JSON.stringify({ error: { code: what === 410 ? 'RESYNC_REQUIRED' : 'INTERNAL_ERROR', message: '', request_id: '' } }));
}

const page = (nextCursor: string, hasMore: boolean, ...data: object[]) => ({ data, nextCursor, hasMore, asOf: '2026-03-02T15:04:05Z' });
const changed = (id: string, version: string) => ({ kind: 'tags', id, change: 'UPSERTED', changedAt: '2026-03-02T15:04:05Z', version, record: { id } });

function memory(versions: readonly StoredVersion[] = []): SyncStore & { pages: SyncPage[] } {
  let progress: SyncProgress | undefined;
  const pages: SyncPage[] = [];
  return {
    pages,
    progress: async () => progress,
    async apply(applied) {
      pages.push(applied);
      progress = applied.after;
    },
    async *versions() {
      yield versions;
    },
  };
}

test('reads until there is no more, with the cursor of each page, and repeats failed requests', async () => {
  const { api, asked } = await feedOf([page('a', true, changed('1', '7')), 503, page('b', true), page('c', false)], { retries: 1 });
  const cursors: string[] = [];
  for await (const { nextCursor } of api.changes({ kinds: ['tags', 'jobs'], limit: 5 })) cursors.push(nextCursor);
  expect(cursors).toEqual(['a', 'b', 'c']);
  expect(asked.map(({ cursor, limit, wait, kinds }) => [cursor, limit, wait, kinds])).toEqual([
    [undefined, '5', '0', 'jobs'],
    ['a', '5', '0', 'jobs'],
    ['a', '5', '0', 'jobs'],
    ['b', '5', '0', 'jobs'],
  ]);
});

test('follows with polls that may be held for longer than an answer may take', async () => {
  const { api, asked, held } = await feedOf([page('a', true), page('b', false), page('c', false, changed('1', '7'))], { timeoutMs: 5000, retries: 0 });
  const timeouts: number[] = [];
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (milliseconds) => timeout.call(AbortSignal, timeouts[timeouts.push(milliseconds) - 1] as number);
  const end = new AbortController();
  const read: string[] = [];
  const following = (async () => {
    for await (const { nextCursor } of api.changes({ follow: true, signal: end.signal })) read.push(nextCursor);
  })();
  const ended = expect(following).rejects.toThrow('enough');
  await held;
  end.abort(new Error('enough'));
  await ended;
  AbortSignal.timeout = timeout;
  expect(read).toEqual(['a', 'b', 'c']);
  expect(asked.map(({ wait }) => wait)).toEqual(['0', '0', '20', '20']);
  expect(timeouts).toEqual([5000, 5000, 25_000, 25_000]);
});

test('stores only the latest of several changes of a record in a page', async () => {
  const { api } = await feedOf([page('a', false, changed('1', '7'), changed('2', '7'), changed('1', '8'))]);
  const store = memory();
  expect(await api.sync(store)).toEqual({ asOf: '2026-03-02T15:04:05Z' });
  expect(store.pages[0]?.changes.map(({ id, version }) => [id, version])).toEqual([
    ['1', '8'],
    ['2', '7'],
  ]);
});

test('begins another load after each 410, and ends it with its last page', async () => {
  const { api, asked } = await feedOf([page('a', true), 410, page('b', true), 410, page('c', true), page('d', false), page('e', false)]);
  const store = memory();
  await api.sync(store);
  await api.sync(store);
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, 'a', undefined, 'b', undefined, 'c', 'd']);
  expect(store.pages.map(({ before, after, endsLoad }) => [before?.cursor, after.cursor, after.load, after.loaded, endsLoad])).toEqual([
    [undefined, 'a', 1, false, false],
    ['a', 'b', 2, false, false],
    ['b', 'c', 3, false, false],
    ['c', 'd', 3, true, true],
    ['d', 'e', 3, true, false],
  ]);
});

test('continues from the stored cursor, with the load that stored it, and passes on what the caller chose', async () => {
  const { api, asked } = await feedOf([page('a', false), page('b', true, changed('1', '7')), page('c', false)]);
  const store = memory();
  await api.sync(store, { kinds: ['tags'], limit: 7 });
  const stored: [string, boolean][] = [];
  expect(await api.sync(store, { onPage: ({ nextCursor }, { loaded }) => stored.push([nextCursor, loaded]) })).toEqual({ asOf: '2026-03-02T15:04:05Z' });
  expect(asked.map(({ cursor, kinds, limit }) => [cursor, kinds, limit])).toEqual([
    [undefined, 'tags', '7'],
    ['a', undefined, '1000'],
    ['b', undefined, '1000'],
  ]);
  expect(stored).toEqual([
    ['b', true],
    ['c', true],
  ]);
  expect(store.pages.map(({ after, endsLoad }) => [after.load, after.loaded, endsLoad])).toEqual([
    [1, true, true],
    [1, true, false],
    [1, true, false],
  ]);
});

test('stores changes of two kinds with the same id both', async () => {
  const { api } = await feedOf([page('a', false, changed('1', '7'), { ...changed('1', '8'), kind: 'jobs' })]);
  const store = memory();
  await api.sync(store);
  expect(store.pages[0]?.changes.map(({ kind, version }) => [kind, version])).toEqual([
    ['tags', '7'],
    ['jobs', '8'],
  ]);
});

test('reports another error, and what a store rejects with, without beginning a load again', async () => {
  const { api, asked } = await feedOf([page('a', true), 500, page('b', false)], { retries: 0 });
  const store = memory();
  await expect(api.sync(store)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  await expect(api.sync({ ...store, apply: () => Promise.reject(new Error('disk full')) })).rejects.toThrow('disk full');
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, 'a', 'a']);
});

test('compares a copy only once it is loaded, from its cursor, in 256 buckets', async () => {
  const { api, asked } = await feedOf([page('a', true), page('b', false), { data: [] }]);
  const store = memory();
  await expect(api.verify(store)).rejects.toThrow('sync it first');
  for await (const each of api.changes())
    await store.apply({ changes: [], before: undefined, after: { cursor: each.nextCursor, load: 1, loaded: !each.hasMore }, endsLoad: false });
  expect(await api.verify(store, { kinds: ['tags'] })).toEqual([]);
  expect(asked.at(-1)).toEqual({ cursor: 'b', kinds: 'tags', buckets: '256' });
});

test('reports a 410 without a cursor, instead of asking again for ever', async () => {
  const { api, asked } = await feedOf([410]);
  await expect(api.sync(memory())).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
  expect(asked).toHaveLength(1);
});

describe('a comparison', () => {
  // Made with `printf %s ID:VERSION | sha256sum`.
  const [UUID, CODE] = ['9d3c5a71-2b4e-4f60-8a1c-6e7d8f9a0b1c', 'Zone'];
  const digest = (kind: ChangeKind, bucket: number, count: number, sum: number, changedSince = false) => ({ kind, bucket, count, digest: sum, changedSince });
  const stored = memory([
    { kind: 'tags', id: UUID, version: '7' },
    { kind: 'job-classes', id: CODE, version: '7' },
  ]);

  test('puts UUIDs and codes into the buckets of their first byte', async () => {
    const digests = [digest('tags', 0x9d, 1, 0x0746f831b96a6), digest('job-classes', 0x5a, 1, 0x12711fcb6eee1)];
    expect(await compareCopy(stored, digests, undefined)).toEqual([
      { kind: 'job-classes', records: 1, compared: 1, equal: true },
      { kind: 'tags', records: 1, compared: 1, equal: true },
    ]);
    expect(await compareCopy(stored, digests, ['tags'])).toHaveLength(1);
  });

  test('finds a bucket that only one side has, and leaves out what changed after the cursor', async () => {
    const digests = [digest('tags', 0x9d, 1, 1, true), digest('invoices', 3, 1, 5)];
    expect(await compareCopy(stored, digests, undefined)).toEqual([
      { kind: 'invoices', records: 0, compared: 0, equal: false },
      { kind: 'job-classes', records: 1, compared: 1, equal: false },
      { kind: 'tags', records: 1, compared: 0, equal: true },
    ]);
  });

  test('sums exactly beyond 2^53', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ kind: 'tags', id: UUID, version: String(index) }));
    const sum = many.reduce((total, { id, version }) => {
      const hash = createHash('sha256').update(`${id}:${version}`).digest('hex');
      return (total + BigInt(`0x${hash.slice(0, 13)}`)) % 2n ** 53n;
    }, 0n);
    const [result] = await compareCopy(memory(many), [digest('tags', 0x9d, 300, Number(sum))], undefined);
    expect(result).toMatchObject({ compared: 300, equal: true });
  });
});
