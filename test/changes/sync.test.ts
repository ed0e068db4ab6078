// Copies kept by @truckroll/client, in each of its stores, against the whole system (decisions §14).
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { resources } from '@truckroll/contract';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { CopyMovedError, createClient, type Client, type SyncStore } from '../../packages/client/src/index.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { openCopy, type Copy } from './copies.ts';
import { feedIsCurrent, haveSameRecords } from './compared.ts';
import { restoreWithout } from './restore.ts';

const STAMPS = { created_at: '2026-03-01T15:00:00Z', updated_at: '2026-03-01T15:00:00Z' };
let system: System;
let folder: string;
let copies: TestDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'truckroll-copies-'));
  [system, copies] = await Promise.all([startSystem(), freshDatabase({})]);
}, 120_000);
afterAll(async () => {
  await system.stop();
  await copies.drop();
  rmSync(folder, { recursive: true });
});

describe.each(['sqlite', 'postgres'] as const)('a copy in %s', (kind) => {
  let company: TestCompany;
  let api: Client;
  let copy: Copy;
  let store: SyncStore;
  const place = (): string => (kind === 'sqlite' ? join(folder, 'copy.db') : copies.url);

  beforeAll(async () => {
    company = await system.createCompany();
    await system.importDemo(company, 3, 20);
    const [jobs, financials] = [() => listed('jobs'), () => listed('job-financials')];
    const count = (await jobs()).length;
    await until('the financials of every job', financials, ({ length }) => length === count);
    api = createClient({ baseUrl: system.baseUrl, token: company.apiKey });
    copy = await openCopy(kind, place());
    store = copy.store;
  }, 120_000);
  afterAll(() => copy.close());

  async function listed(path: string): Promise<any[]> {
    const records: any[] = [];
    for await (const record of createClient({ baseUrl: system.baseUrl, token: company.apiKey }).list(`/v1/${path}` as '/v1/tags', { query: { limit: 100 } }))
      records.push(record);
    return records;
  }

  const tag = (id: string, name: string) => ({ id, name, color: null, applies_to: ['JOB'], archived_at: null, ...STAMPS });
  const put = async (...tags: object[]): Promise<void> => {
    expect((await system.importRecords(company, 'tags', tags)).problems).toEqual([]);
    await feedIsCurrent(system.baseUrl, company.apiKey);
  };
  const differing = async (): Promise<string[]> => (await api.verify(store)).filter(({ equal }) => !equal).map((each) => each.kind);

  /** Values derived from another service's records may change during the comparison; a missed change would stay missing. */
  async function expectEqualToLists(): Promise<void> {
    const differing = async (): Promise<string[]> => {
      await feedIsCurrent(system.baseUrl, company.apiKey);
      await api.sync(store);
      const kinds: string[] = [];
      for (const { path } of resources) if (!haveSameRecords(await copy.records(path), await listed(path))) kinds.push(path);
      return kinds;
    };
    await until('the copy to equal the lists', differing, ({ length }) => length === 0);
    expect(await copy.records('company')).toEqual([(await api.get('/v1/company')).data]);
  }

  test('continues after its process was killed between pages, until it equals the lists field by field', async () => {
    let pages = 0;
    for (const kills of [1, 2, 4]) pages += await killedAfter(kills);
    expect(pages).toBeGreaterThanOrEqual(7);
    expect(await store.progress()).toMatchObject({ load: 1, loaded: false });
    await expect(api.verify(store)).rejects.toThrow('sync it first');
    await feedIsCurrent(system.baseUrl, company.apiKey);
    const total = (await api.get('/api/v1/integrations/changes/digest')).data.reduce((sum, { count }) => sum + count, 0);
    const before = await copy.count();
    let upserts = 0;
    await api.sync(store, { limit: 200, onPage: ({ data }) => void (upserts += data.length) });
    expect(before).toBeGreaterThan(0);
    expect(upserts).toBeGreaterThanOrEqual(total - before);
    expect(upserts).toBeLessThan(total);
    await expectEqualToLists();
    const compared = await api.verify(store);
    expect(compared.filter(({ equal, records, compared: some }) => !equal || some !== records)).toEqual([]);
    expect(compared.reduce((sum, { records }) => sum + records, 0)).toBe(await copy.count());
  }, 120_000);

  async function killedAfter(pages: number): Promise<number> {
    const environment = { PATH: process.env['PATH'], URL: system.baseUrl, KEY: company.apiKey, STORE: kind, PLACE: place() };
    const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, 'sync-process.ts')], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stored = 0;
    for await (const _ of createInterface({ input: child.stdout })) if ((stored += 1) === pages) child.kill('SIGKILL');
    return stored;
  }

  test('stores a page and its cursor in one transaction', async () => {
    const id = randomUUID();
    await put(tag(id, 'Whole'));
    const before = await store.progress();
    await copy.refuseProgress(true);
    await expect(api.sync(store)).rejects.toThrow('refused by the test');
    expect(await copy.records('tags')).not.toContainEqual(expect.objectContaining({ id }));
    expect(await store.progress()).toEqual(before);
    await copy.refuseProgress(false);
    await api.sync(store);
    expect(await copy.records('tags')).toContainEqual(expect.objectContaining({ id, name: 'Whole' }));
  });

  test('takes changes and deletions, and follows until it is aborted', async () => {
    const [kept, deleted] = [randomUUID(), randomUUID()];
    await put(tag(kept, 'Before'), tag(deleted, 'Deleted'));
    await api.sync(store);
    const end = new AbortController();
    const stored: string[] = [];
    const following = api.sync(store, {
      follow: true,
      signal: end.signal,
      onPage: ({ data }) => stored.push(...data.map(({ id, change }) => `${change} ${id}`)),
    });
    const ended = expect(following).rejects.toThrow('enough');
    await put(tag(kept, 'After'));
    await until('the change', () => stored.includes(`UPSERTED ${kept}`));
    await system.database.query({ text: 'delete from scheduling.tags where company_id = $1 and id = $2', values: [company.id, deleted] });
    await until('the deletion', () => stored.includes(`DELETED ${deleted}`));
    end.abort(new Error('enough'));
    await ended;
    expect((await copy.records('tags')).filter(({ id }) => id === kept || id === deleted).map(({ name }) => name)).toEqual(['After']);
    await expectEqualToLists();
    expect(await differing()).toEqual([]);
  });

  test('refuses a page if another program has stored one since', async () => {
    const before = await store.progress();
    const outdated: SyncStore = { ...store, progress: async () => before };
    await api.sync(store);
    const id = randomUUID();
    await put(tag(id, 'Seen by the outdated program'));
    await expect(api.sync(outdated)).rejects.toThrow(CopyMovedError);
    await expect(api.sync({ ...store, progress: async () => undefined })).rejects.toThrow(CopyMovedError);
    expect(await copy.records('tags')).not.toContainEqual(expect.objectContaining({ id }));
  });

  test('verifies: a missing, an additional and an outdated record are found', async () => {
    await api.sync(store);
    await copy.damage('locations', 'missing');
    await copy.damage('accounts', 'additional');
    await copy.damage('invoices', 'outdated');
    expect(await differing()).toEqual(['accounts', 'invoices', 'locations']);
  });

  test('loads again after a restore of the database, and deletes what the restore has undone', async () => {
    const id = randomUUID();
    await put(tag(id, 'Undone'));
    await api.sync(store);
    expect(await copy.records('tags')).toContainEqual(expect.objectContaining({ id }));
    await restoreWithout(system, id);
    // The first attempt is interrupted after a page: records of the earlier load stay until the new one ends.
    await expect(
      api.sync(store, {
        limit: 200,
        onPage: () => {
          throw new Error('interrupted');
        },
      }),
    ).rejects.toThrow('interrupted');
    expect(await store.progress()).toMatchObject({ load: 2, loaded: false });
    expect(await copy.records('tags')).toContainEqual(expect.objectContaining({ id }));
    await api.sync(store);
    expect(await store.progress()).toMatchObject({ load: 2, loaded: true });
    expect(await copy.records('tags')).not.toContainEqual(expect.objectContaining({ id }));
    await expectEqualToLists();
    expect(await differing()).toEqual([]);
  });
});

test('says which Node the SQLite store needs', async () => {
  const program = `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dirname, '../../packages/client/src/stores/sqlite.ts'))};
    await openSqliteStore(':memory:').catch(({ message }) => console.log(message));`;
  const child = spawn(process.execPath, ['--no-experimental-sqlite', '--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) said.push(line);
  expect(said).toEqual(['The SQLite store needs Node 22.13 or newer: update Node, or start Node 22.5 to 22.12 with --experimental-sqlite.']);
});
