// How the gateway joins what several services say about their changes.
import type { Owner } from '@truckroll/contract';
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { ReadChangesResponse, type ChangePosition, type ReadChangesRequest, type RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import { nextEmptyPage, readPage, type FeedClients, type FeedPage } from '../src/changes/feed.ts';

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
    [10, 4 * 1024 * 1024],
    [8, 4 * 1024 * 1024 - 1024],
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
  const page = nextEmptyPage({ changes: [], progress, more: false, asOf: 4 }, new Set(['invoices', 'refunds', 'jobs']), unchanged);
  const versions = [...page.progress.values()].flatMap(({ positions }) => [...positions].map(([kind, { version, after_id }]) => [kind, version, after_id]));
  expect(versions).toEqual([
    ['invoices', 20, ''],
    ['payments', 7, 'x'],
    ['refunds', 90, 'x'],
    ['jobs', 30, ''],
  ]);
  expect(page).toMatchObject({ changes: [], more: false, asOf: 5 });
});
