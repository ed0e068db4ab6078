// The programs of the sync guide, as readers run them.
import { spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { resources } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { guideCode } from '../docs/guide-code.ts';
import { runSample, type Ran } from '../docs/run-sample.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { feedIsCurrent, haveSameRecords } from './compared.ts';
import { restoreWithout } from './restore.ts';

const programs = guideCode(join(import.meta.dirname, '../..')).filter(({ name }) => name.startsWith('how-to/sync.md'));
const named = (file: string) => programs.find((program) => program.file === file)!;
const STAMPS = { created_at: '2026-03-01T15:00:00Z', updated_at: '2026-03-01T15:00:00Z' };
let system: System;

beforeAll(async () => void (system = await startSystem()), 120_000);
afterAll(() => system.stop());

async function newCompany(): Promise<TestCompany> {
  const company = await system.createCompany();
  await system.importDemo(company, 3, 20);
  return company;
}

const run = (file: string, company: TestCompany, folder: string, ...args: string[]): Promise<Ran> =>
  runSample(named(file).code, named(file).language, { url: system.baseUrl, key: company.apiKey, token: '' }, { folder, args });

async function listed(company: TestCompany, path: string): Promise<any[]> {
  const records: any[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await system.get(company, `/v1/${path}?limit=100${cursor}`);
    records.push(...body.data);
    if (body.pagination.next_cursor === null) return records;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

function query(folder: string, sql: string, ...values: string[]): any[] {
  const copy = new DatabaseSync(join(folder, 'copy.db'));
  const rows = copy.prepare(sql).all(...values);
  copy.close();
  return rows;
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.each(['sync.ts', ...(hasPython ? ['sync.py'] : [])])(
  '%s makes a copy, updates it, loads it again after a restore, and finds that it differs',
  async (file) => {
    const company = await newCompany();
    const folder = mkdtempSync(join(tmpdir(), 'truckroll-guide-'));
    const succeeds = async (...args: string[]): Promise<void> => {
      const { code, stdout, stderr } = await run(file, company, folder, ...args);
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^complete as of 20\S+Z\n$/)]);
    };
    // Values derived from another service's records may change during the comparison; a missed change would stay missing.
    const expectEqualToLists = async (): Promise<void> => {
      const differing = async (): Promise<string[]> => {
        await feedIsCurrent(system.baseUrl, company.apiKey);
        await succeeds();
        const kinds: string[] = [];
        for (const { path } of resources) {
          const own = query(folder, 'SELECT record FROM records WHERE kind = ?', path).map(({ record }) => JSON.parse(record));
          if (!haveSameRecords(own, await listed(company, path))) kinds.push(path);
        }
        return kinds;
      };
      await until('the copy to equal the lists', differing, ({ length }) => length === 0);
    };
    await succeeds();
    const id = randomUUID();
    const tag = { id, name: 'Undone', color: null, applies_to: ['JOB'], archived_at: null, ...STAMPS };
    expect((await system.importRecords(company, 'tags', [tag])).problems).toEqual([]);
    await feedIsCurrent(system.baseUrl, company.apiKey);
    // A page and its cursor are one transaction.
    query(folder, `CREATE TRIGGER refusal BEFORE INSERT ON progress BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`);
    expect(await run(file, company, folder)).toMatchObject({ code: 1, stderr: expect.stringContaining('refused by the test') });
    expect(query(folder, 'SELECT id FROM records WHERE id = ?', id)).toEqual([]);
    query(folder, 'DROP TRIGGER refusal');
    await succeeds('--check');
    expect(query(folder, 'SELECT id FROM records WHERE id = ?', id)).toEqual([{ id }]);
    await expectEqualToLists();

    await restoreWithout(system, id);
    await succeeds('--check');
    expect(query(folder, 'SELECT id FROM records WHERE id = ?', id)).toEqual([]);
    expect(query(folder, 'SELECT load, loaded FROM progress')).toEqual([{ load: 2, loaded: 1 }]);
    await expectEqualToLists();

    query(folder, `DELETE FROM records WHERE kind = 'invoices' AND id = (SELECT min(id) FROM records WHERE kind = 'invoices') RETURNING 1`);
    const { code, stderr } = await run(file, company, folder, '--check');
    expect([code, stderr]).toEqual([1, expect.stringContaining('invoices')]);
    rmSync(folder, { recursive: true });
  },
  120_000,
);

(hasPython ? test : test.skip)('Ctrl-C ends the program in Python without a traceback while it follows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-guide-'));
  const target = { url: system.baseUrl, key: (await newCompany()).apiKey, token: '' };
  let child: ChildProcess | undefined;
  const ended = runSample(named('sync.py').code, 'python', target, { folder, args: ['--follow'], onStart: (started) => (child = started) });
  const loaded = (): any[] => {
    try {
      return query(folder, 'SELECT loaded FROM progress WHERE loaded = 1');
    } catch {
      return [];
    }
  };
  await until('the copy to be loaded', loaded, ({ length }) => length === 1);
  child!.kill('SIGINT');
  expect(await ended).toEqual({ code: null, stdout: '', stderr: '' });
  rmSync(folder, { recursive: true });
});

(hasPython ? test : test.skip)('the program in Python continues a copy of the client', async () => {
  const company = await newCompany();
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-guide-'));
  for (const file of ['sync.ts', 'sync.py', 'sync.ts']) expect(await run(file, company, folder, '--check')).toMatchObject({ code: 0, stderr: '' });
  expect(query(folder, 'SELECT load, loaded FROM progress')).toEqual([{ load: 1, loaded: 1 }]);
  rmSync(folder, { recursive: true });
});

test.each(['payments.sh', 'watch.sh'])('%s prints answers of the feed', async (file) => {
  const { code, stdout, stderr } = await runSample(named(file).code, 'bash', { url: system.baseUrl, key: (await newCompany()).apiKey, token: '' });
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^\{"data":.*"asOf":"[^"]+"\}$/)]);
});
