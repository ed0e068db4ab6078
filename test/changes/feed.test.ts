// The change feed as a program that keeps a copy uses it (decisions §14).
import { createHash } from 'node:crypto';
import { changeKinds, resources } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { byId, withoutAging } from './compared.ts';

interface Change {
  kind: string;
  id: string;
  change: 'UPSERTED' | 'DELETED';
  changedAt: string;
  version: string;
  record: Record<string, unknown> | null;
}

interface Page {
  data: Change[];
  nextCursor: string;
  hasMore: boolean;
  asOf: string;
}

const FEED = '/api/v1/integrations/changes';
let system: System;
let company: TestCompany;

class Copy {
  readonly records = new Map<string, { record: Record<string, unknown>; version: bigint }>();
  cursor: string | undefined;
  readonly #of: TestCompany;

  constructor(of: TestCompany) {
    this.#of = of;
  }

  async read(query = ''): Promise<Page> {
    const cursor = this.cursor === undefined ? '' : `&cursor=${this.cursor}`;
    const { status, body } = await system.get(this.#of, `${FEED}?limit=1000${cursor}${query}`);
    expect([status, body.error]).toEqual([200, undefined]);
    const page = body as Page;
    for (const { kind, id, change, version, record } of page.data) {
      const key = `${kind}/${id}`;
      expect(BigInt(version) >= (this.records.get(key)?.version ?? 0n)).toBe(true);
      if (change === 'DELETED') this.records.delete(key);
      else this.records.set(key, { record: record as Record<string, unknown>, version: BigInt(version) });
    }
    this.cursor = page.nextCursor;
    return page;
  }

  async catchUp(query = ''): Promise<Change[]> {
    const changes: Change[] = [];
    for (;;) {
      const page = await this.read(query);
      changes.push(...page.data);
      if (!page.hasMore) return changes;
    }
  }

  of(kind: string): Record<string, unknown>[] {
    return [...this.records].filter(([key]) => key.startsWith(`${kind}/`)).map(([, { record }]) => record);
  }
}

async function listed(path: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await system.get(company, `/v1/${path}?limit=100${cursor}`);
    records.push(...body.data);
    if (body.pagination.next_cursor === null) return records;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  await system.importDemo(company, 3, 120);
}, 180_000);
afterAll(() => system.stop());

test('a copy that has read the feed from the beginning equals what the lists return', async () => {
  const copy = new Copy(company);
  // Job financials follow from other services' records.
  const jobs = (await listed('jobs')).length;
  await until(
    'the financials of every job',
    () => listed('job-financials'),
    (found) => found.length === jobs,
  );
  const changes = await copy.catchUp();
  expect(changes.filter(({ change }) => change === 'DELETED')).toEqual([]);
  // A record comes again only if it has changed again.
  expect(new Set(changes.map(({ kind, id, version }) => `${kind}/${id} ${version}`)).size).toBe(changes.length);
  await copy.catchUp();
  for (const { path } of resources) {
    expect([path, copy.of(path).map(withoutAging).sort(byId)]).toEqual([path, (await listed(path)).map(withoutAging).sort(byId)]);
  }
  const { body } = await system.get(company, '/v1/company');
  expect(copy.of('company')).toEqual([body.data]);
  const digest = await system.get(company, `${FEED}/digest?cursor=${copy.cursor}`);
  expect(digest.body.data).toHaveLength(changeKinds.length);
  for (const { kind, count, digest: sum, changedSince } of digest.body.data) {
    const own = [...copy.records].filter(([key]) => key.startsWith(`${kind}/`));
    const expected = own.reduce((total, [key, { version }]) => {
      const hash = createHash('sha256')
        .update(`${key.slice(kind.length + 1)}:${version}`)
        .digest('hex');
      return (total + BigInt(`0x${hash.slice(0, 13)}`)) % 2n ** 53n;
    }, 0n);
    expect([kind, count, sum, changedSince]).toEqual([kind, own.length, Number(expected), false]);
  }
}, 120_000);

test('a poll that waits is answered with the next change', async () => {
  const copy = new Copy(company);
  await copy.read('&cursor=now');
  const waiting = copy.read('&wait=30&kinds=tags');
  const tag = {
    id: '7c1f0b52-3f1e-4a2b-9c3d-5e6f7a8b9c0d',
    name: 'Watched',
    color: null,
    applies_to: ['JOB'],
    created_at: '2026-03-01T15:00:00Z',
    updated_at: '2026-03-01T15:00:00Z',
  };
  await system.importRecords(company, 'tags', [tag]);
  const { data } = await waiting;
  expect(data.map(({ kind, id, change }) => [kind, id, change])).toEqual([['tags', tag.id, 'UPSERTED']]);
});
