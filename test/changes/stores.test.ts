// Pages of changes in each store of the client, without a system: what is stored together, and what is refused.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { CopyMovedError, type Change, type ChangesPage, type StoredVersion, type SyncPage, type SyncProgress } from '../../packages/client/src/index.ts';
import { syncChanges } from '../../packages/client/src/sync.ts';
import { openCopy, type Copy } from './copies.ts';

const at = (cursor: string, load = 1, loaded = false): SyncProgress => ({ cursor, load, loaded });
const changed = (id: string, version = '1') =>
  ({ kind: 'tags', id, change: 'UPSERTED', changedAt: '2026-03-02T15:04:05Z', version, record: { id, version } }) as unknown as Change;
const page = (changes: readonly Change[], before: SyncProgress | undefined, after: SyncProgress, endsLoad = false): SyncPage => {
  return { changes, before, after, endsLoad };
};

describe.each(['sqlite', 'postgres'] as const)('a copy in %s', (kind) => {
  let folder: string;
  let database: TestDatabase;
  let copy: Copy;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'truckroll-stores-'));
    database = await freshDatabase({});
    copy = await openCopy(kind, kind === 'sqlite' ? join(folder, 'copy.db') : database.url);
  });
  afterEach(async () => {
    await copy.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  async function versions(): Promise<StoredVersion[]> {
    const all: StoredVersion[] = [];
    for await (const some of copy.store.versions()) all.push(...some);
    return all;
  }

  test.each([
    ['continues where no page is stored', [], at('a'), at('b')],
    ['continues from another place than the stored one', [page([changed('1')], undefined, at('a'))], at('0'), at('b')],
    ['begins where a page is stored', [page([changed('1')], undefined, at('a'))], undefined, at('b', 2)],
    ['ends another load from another place than the stored one', [page([changed('1')], undefined, at('a'))], at('0', 2), at('b', 2, true)],
  ])('refuses a page that %s, and keeps what it has', async (_, stored, before, after) => {
    for (const each of stored) await copy.store.apply(each);
    await expect(copy.store.apply(page([changed('2')], before, after, after.loaded))).rejects.toThrow(CopyMovedError);
    expect((await versions()).map(({ id }) => id)).toEqual(stored.flatMap(({ changes }) => changes.map(({ id }) => id)));
    expect(await copy.store.progress()).toEqual(stored.at(-1)?.after);
    await copy.store.apply(page([changed('3')], stored.at(-1)?.after, at('c')));
    expect(await copy.store.progress()).toEqual(at('c'));
  });

  test('has the latest change of each record of a page, and records of two kinds with the same id', async () => {
    const other = { ...changed('1', '3'), kind: 'jobs' } as unknown as Change;
    const data = [changed('1', '1'), other, changed('1', '2')];
    const pages = async function* () {
      yield { data, nextCursor: 'a', hasMore: false, asOf: '2026-03-02T15:04:05Z' } as ChangesPage;
    };
    expect(await syncChanges(pages, copy.store, { kinds: ['tags', 'jobs'] })).toEqual({ asOf: '2026-03-02T15:04:05Z' });
    expect((await versions()).map(({ kind: of, id, version }) => [of, id, version])).toEqual([
      ['jobs', '1', '3'],
      ['tags', '1', '2'],
    ]);
  });

  test('deletes what earlier loads have stored when a load ends, and keeps what is in the last page', async () => {
    await copy.store.apply(
      page(
        ['1', '2', '3', '4'].map((id) => changed(id)),
        undefined,
        at('a', 1, true),
        true,
      ),
    );
    await copy.store.apply(page([changed('2', '5')], at('a', 1, true), at('b', 2)));
    expect((await versions()).map(({ id, version }) => [id, version])).toEqual([
      ['1', '1'],
      ['2', '5'],
      ['3', '1'],
      ['4', '1'],
    ]);
    await copy.store.apply(page([changed('3', '6'), changed('5', '6')], at('b', 2), at('c', 2, true), true));
    expect((await versions()).map(({ id, version }) => [id, version])).toEqual([
      ['2', '5'],
      ['3', '6'],
      ['5', '6'],
    ]);
    expect(await copy.store.progress()).toEqual(at('c', 2, true));
  });

  test('reads back the versions of all records, however many, once each', async () => {
    const ids = Array.from({ length: 10_001 }, (_, index) => String(index).padStart(5, '0'));
    await copy.store.apply(
      page(
        ids.map((id) => changed(id)),
        undefined,
        at('a'),
      ),
    );
    expect((await versions()).map(({ id }) => id)).toEqual(ids);
  });
});
