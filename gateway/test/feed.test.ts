// How the gateway joins what several services say about their changes.
import type { Owner } from '@truckroll/contract';
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { ReadChangesResponse, type ChangePosition, type ReadChangesRequest, type RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import { nextEmptyPage, readDigest, readPage, type FeedClients, type FeedPage } from '../src/changes/feed.ts';

const position = (kind: string, version: number): ChangePosition => ({ kind, version, after_kind: kind, after_id: 'x', began_at: 1 });
const change = (kind: string, bytes = 0): RecordChange => ({ kind, id: 'x', version: 1, changed_at: 1, record: Buffer.alloc(bytes) });

/** The page of two services, of which the first to be asked answers `first`, and what they were asked. */
async function pageOf(limit: number, ...answers: readonly Partial<ReadChangesResponse>[]) {
  const asked: [owner: Owner, limit: number, mostBytes: number][] = [];
  const client = (owner: Owner) => ({
    async readChanges({ positions, limit: of, most_bytes: mostBytes }: ReadChangesRequest): Promise<ReadChangesResponse> {
      const answer = answers[asked.push([owner, of, mostBytes]) - 1];
      return { ...ReadChangesResponse.decode(new Uint8Array()), positions, ...answer };
    },
  });
  const clients = new Map((['billing', 'scheduling'] as const).map((owner) => [owner, client(owner)])) as unknown as FeedClients;
  const reading = { clients, principal: Principal.decode(new Uint8Array()), kinds: new Set(['invoices', 'jobs']), progress: new Map() };
  const page = await readPage(reading, limit, false);
  expect(asked.map(([owner]) => owner).toSorted()).toEqual(['billing', 'scheduling']);
  return { page, asked };
}

describe('a page that one service fills', () => {
  const full = { changes: [change('jobs')] };

  test.each([
    ['ends the feed if no other service has changes', {}, false],
    ['goes on if another service has a change', { changes: [change('invoices')] }, true],
    ['goes on if another service has looked through part of its changes only', { more: true }, true],
  ])('%s', async (_, other, more) => {
    const { page } = await pageOf(1, full, other);
    expect(page).toMatchObject({ changes: [{ kind: 'jobs' }], more });
  });

  test.each([
    [3, 5],
    [5, 3],
  ])('is complete only up to the earliest time of all services, of %i and %i', async (first, second) => {
    const { page } = await pageOf(1, { ...full, as_of: first }, { ...full, as_of: second });
    expect(page.asOf).toBe(3);
  });
});

test('the next service gets what the first one left of the page, in changes and in bytes', async () => {
  const some = [change('jobs', 1000), change('jobs', 24)];
  const { page, asked } = await pageOf(10, { changes: some }, { changes: some });
  expect(page.changes).toHaveLength(4);
  expect(asked.map(([, limit, bytes]) => [limit, bytes])).toEqual([
    [10, 4_000_000],
    [8, 4_000_000 - 1024],
  ]);
});

test('after an empty page the requested kinds continue later, never earlier, as of the earliest time of all services', () => {
  const progress: FeedPage['progress'] = new Map([
    ['billing', { epoch: 0, positions: new Map(['invoices', 'payments', 'refunds'].map((kind) => [kind, position(kind, kind === 'refunds' ? 90 : 7)])) }],
    ['scheduling', { epoch: 0, positions: new Map([['jobs', position('jobs', 7)]]) }],
  ]);
  const unchanged = new Map([
    ['billing', { from: 7, below: 20, asOf: 5 }],
    ['scheduling', { from: 7, below: 30, asOf: 6 }],
  ] as const);
  const page = nextEmptyPage({ changes: [], parts: [], progress, more: false, asOf: 4 }, new Set(['invoices', 'refunds', 'jobs']), unchanged);
  const versions = [...page.progress.values()].flatMap(({ positions }) => [...positions].map(([kind, { version, after_id }]) => [kind, version, after_id]));
  expect(versions).toEqual([
    ['invoices', 20, ''],
    ['payments', 7, 'x'],
    ['refunds', 90, 'x'],
    ['jobs', 30, ''],
  ]);
  expect(page).toMatchObject({ changes: [], more: false, asOf: 5 });
});

describe('the requests to the services', () => {
  const principal = { ...Principal.decode(new Uint8Array()), company_id: 'acme', time_zone: 'America/Denver' };
  const start = { version: 0, after_kind: '', after_id: '', began_at: 0 };
  const known = position('invoices', 7);
  const progress: FeedPage['progress'] = new Map([
    [
      'billing',
      {
        epoch: 3,
        positions: new Map([
          ['invoices', known],
          ['payments', position('payments', 9)],
        ]),
      },
    ],
  ]);

  /** Services that note their requests. */
  function asking(answers: Partial<Record<Owner, object>> = {}) {
    const asked: [owner: Owner, request: object][] = [];
    const client = (owner: Owner) => ({
      async readChanges(request: ReadChangesRequest): Promise<ReadChangesResponse> {
        asked.push([owner, request]);
        const positions = request.positions.map((each) => ({ ...each, version: 100 }));
        return { ...ReadChangesResponse.decode(new Uint8Array()), epoch: 4, positions, ...answers[owner] };
      },
      async digestRecords(request: object) {
        asked.push([owner, request]);
        return { digests: [], as_of: 1, ...answers[owner] };
      },
    });
    const clients = new Map((['billing', 'scheduling'] as const).map((owner) => [owner, client(owner)])) as unknown as FeedClients;
    return { asked: () => new Map(asked), reading: { clients, principal, kinds: new Set(['invoices', 'estimates', 'jobs']), progress } };
  }

  test.each([true, false])('for a page: the company, what it has read of each service, and whether to skip the past (%s)', async (skip) => {
    const { asked, reading } = asking();
    const page = await readPage(reading, 10, skip);
    const common = { company_id: 'acme', time_zone: 'America/Denver', limit: 10, most_bytes: 4_000_000, skip };
    expect(asked().get('billing')).toEqual({ ...common, positions: expect.arrayContaining([known, { kind: 'estimates', ...start }]) as unknown, epoch: 3 });
    expect(asked().get('scheduling')).toEqual({ ...common, positions: [{ kind: 'jobs', ...start }], epoch: null });
    const { epoch, positions } = page.progress.get('billing')!;
    expect([epoch, positions.get('invoices')?.version, positions.get('payments')?.version]).toEqual([4, 100, 9]);
    expect(progress.get('billing')!.positions.get('invoices')).toBe(known);
  });

  test('after a full page: whether there is one change, without skipping any', async () => {
    const changes = [change('invoices'), change('jobs')];
    const { asked, reading } = asking({ billing: { changes }, scheduling: { changes } });
    const page = await readPage(reading, 2, true);
    expect([...asked().values()].slice(1)).toMatchObject([{ company_id: 'acme', limit: 1, most_bytes: 1, skip: false }]);
    expect([page.changes.length, page.more, page.progress.size]).toEqual([2, true, [...asked().keys()][0] === 'billing' ? 1 : 2]);
  });

  test('for a page that its service must end early: nothing of the others', async () => {
    const { asked, reading } = asking({ billing: { more: true }, scheduling: { more: true } });
    expect(await readPage(reading, 2, false)).toMatchObject({ changes: [], more: true });
    expect(asked().size).toBe(1);
  });

  test('for digests: the company, what it has read, and how many buckets', async () => {
    const of = (kind: string, bucket: number) => ({ kind, bucket, count: 1, digest: bucket, changed_since: false });
    const { asked, reading } = asking({
      billing: { digests: [of('invoices', 2), of('estimates', 1), of('invoices', 1)], as_of: 6 },
      scheduling: { digests: [of('jobs', 0)], as_of: 5 },
    });
    const { digests, asOf } = await readDigest(reading, true);
    expect(digests.map(({ kind, bucket }) => [kind, bucket])).toEqual([
      ['estimates', 1],
      ['invoices', 1],
      ['invoices', 2],
      ['jobs', 0],
    ]);
    expect(asOf).toBe(5);
    expect(asked().get('billing')).toEqual({ company_id: 'acme', positions: expect.arrayContaining([known]) as unknown, epoch: 3, buckets: true });
    expect(asked().get('scheduling')).toEqual({ company_id: 'acme', positions: [{ kind: 'jobs', ...start }], epoch: null, buckets: true });
  });

  test('for one digest of each kind: kinds without records are added, and have changed unless they were read', async () => {
    const { reading } = asking({ billing: { digests: [{ kind: 'estimates', bucket: 0, count: 2, digest: 7, changed_since: true }] } });
    const none = { bucket: 0, count: 0, digest: 0 };
    expect((await readDigest(reading, false)).digests).toEqual([
      { kind: 'estimates', bucket: 0, count: 2, digest: 7, changed_since: true },
      { kind: 'invoices', ...none, changed_since: false },
      { kind: 'jobs', ...none, changed_since: true },
    ]);
  });
});
