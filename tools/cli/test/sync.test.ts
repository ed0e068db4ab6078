import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '@truckroll/client/sqlite';
import { cuttingProxy } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { feedIsCurrent, haveSameRecords } from '../../../test/changes/compared.ts';
import { startSystem, truckroll, type Outcome } from './system.ts';

type Json = Record<string, any>;

let system: Awaited<ReturnType<typeof startSystem>>;
let demo: { company_id: string; api_key: string };
let copy: string;

beforeAll(async () => {
  system = await startSystem();
  demo = await system.demo(5, 40);
  copy = join(system.folder, 'copy.db');
  await request();
  await system.truckroll('intake', 'interaction', '--company', demo.company_id, '--channel', 'call', '--direction', 'inbound');
}, 120_000);
afterAll(() => system.stop(), 30_000);

const environment = (key: string = demo.api_key) => ({ ...system.env, TRUCKROLL_API_KEY: key });
const command = (...args: string[]): Promise<Outcome> => truckroll(args, environment(), system.folder);

async function json(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await command(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Json;
}

async function request(): Promise<string> {
  const id = randomUUID();
  const { code } = await system.truckroll('intake', 'request', '--company', demo.company_id, '--id', id, '--channel', 'phone', '--summary', 'AC not cooling');
  expect(code).toBe(0);
  await feedIsCurrent(system.env['TRUCKROLL_URL'] as string, demo.api_key);
  return id;
}

function query<T>(sql: string, file = copy): T[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare(sql).all() as T[];
  database.close();
  return rows;
}

const kindsIn = (file: string): string[] => query<{ kind: string }>('SELECT DISTINCT kind FROM records', file).map(({ kind }) => kind);

const linesOf = (...file: string[]): Json[] => {
  const text = readFileSync(join(system.folder, ...file), 'utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Json);
};

test('sync makes a copy that equals an export, with a progress bar, and brings it up to date', async () => {
  const { code, stdout, stderr } = await truckroll(['sync', copy, '--verify'], environment(), system.folder, true);
  expect(code).toBe(0);
  expect(stderr).toMatch(/syncing {2}[█░]{24} {2}\d+ % /);
  expect(stdout).toMatch(
    /copy\.db is complete as of .+: [\d,]+ records\.\n[\d,]+ changes and 0 deletions stored in .+\n(.+) of \1 records compared with the API\.\nThey are equal\.\n$/,
  );
  // Values that follow from another service's records may change between both. What the copy had missed would stay so.
  const differing = async (): Promise<string[]> => {
    await feedIsCurrent(system.env['TRUCKROLL_URL'] as string, demo.api_key);
    await json('sync', copy);
    await json('export', join(system.folder, 'books'));
    return kindsIn(copy).filter((kind) => {
      const theirs =
        kind === 'company' ? [JSON.parse(readFileSync(join(system.folder, 'books/company.json'), 'utf8')) as Json] : linesOf('books', `${kind}.ndjson`);
      const own = query<{ record: string }>(`SELECT record FROM records WHERE kind = '${kind}'`).map(({ record }) => JSON.parse(record) as Json);
      return !haveSameRecords(own, theirs);
    });
  };
  await until('the copy to equal the export', differing, ({ length }) => length === 0);
  expect(kindsIn(copy).length).toBeGreaterThan(20);
  expect(linesOf('books/service-requests.ndjson')).toHaveLength(1);
  expect(linesOf('books/interactions.ndjson')).toHaveLength(1);
  await request();
  expect(await json('sync', copy, '--only', 'service-requests')).toMatchObject({ upserted: 1, deleted: 0 });
  expect(await json('sync', copy, '--only', 'service-requests')).toMatchObject({ upserted: 0, deleted: 0 });
}, 60_000);

test.each([
  ['and then ends with success', undefined],
  ['through a proxy with a path prefix that answers 504 to held polls', true],
  ['through a proxy with a path prefix that cuts held polls', false],
])(
  'sync --follow stores changes until Ctrl-C, %s',
  async (_, answers504) => {
    const proxy = answers504 === undefined ? undefined : await cuttingProxy(system.env['TRUCKROLL_URL'] as string, { limitMs: 1500, answers504 });
    const followed = join(system.folder, `followed-${answers504}.db`);
    const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts'), 'sync', followed, '--follow', '--json', '--only', 'service-requests'], {
      env: { PATH: process.env['PATH'], ...environment(), ...(proxy && { TRUCKROLL_URL: `${proxy.url}/v1/` }) },
      cwd: system.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: Json[] = [];
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    let id = '';
    for await (const line of createInterface({ input: child.stdout })) {
      if (said.push(JSON.parse(line)) === 1) {
        await proxy?.cut(2);
        id = await request();
      } else child.kill('SIGINT');
    }
    if (child.exitCode === null) await once(child, 'exit');
    await proxy?.close();
    expect(said[1]).toMatchObject({ upserted: 1, deleted: 0 });
    expect([child.exitCode, stderr]).toEqual([0, 'Following changes; Ctrl-C ends it.\nEnded. Run the same command to continue.\n']);
    expect(query<{ id: string }>('SELECT id FROM records', followed)).toContainEqual(expect.objectContaining({ id }));
  },
  30_000,
);

test('sync --verify names the kinds that differ, and what to do', async () => {
  const damaged = join(system.folder, 'damaged.db');
  await json('sync', damaged, '--only', 'invoices', 'tags');
  query(`DELETE FROM records WHERE kind = 'invoices' AND id = (SELECT min(id) FROM records WHERE kind = 'invoices') RETURNING 1`, damaged);
  const { code, stdout } = await command('sync', damaged, '--only', 'invoices', 'tags', '--verify');
  expect([code, stdout]).toEqual([1, expect.stringMatching(/DIFFERENT\ninvoices\nDelete .*damaged\.db, and sync again\.\n$/)]);
});

test('sync says what is wrong with the file, the key or the address, and what to do', async () => {
  const other = await system.demo(6, 20);
  const text = join(system.folder, 'text.db');
  writeFileSync(text, 'This is not a SQLite file, but long enough to be one: '.repeat(20));
  const foreign = join(system.folder, 'foreign.db');
  query('CREATE TABLE records (name TEXT)', foreign);
  const sync = (file: string, key?: string, ...args: string[]) => truckroll(['sync', file, ...args], environment(key), system.folder);
  for (const [outcome, code, message] of [
    [await sync(copy, other.api_key), 1, /copy\.db is a copy of another company, or from another installation: give that company's key, or another file\.\n$/],
    [await sync(text), 3, /text\.db cannot be used: it is not a SQLite file\. Choose another file\.\n$/],
    [await sync(foreign), 3, /foreign\.db cannot be used: it has tables of another program\. Choose another file\.\n$/],
    [
      await sync(join(system.folder, 'nowhere/copy.db')),
      3,
      /cannot be used: it cannot be opened\. Check that its folder exists and that you may write there\.\n$/,
    ],
    [await sync(copy, 'trk_wrong'), 1, /^The API does not accept the key: /],
    [await sync(copy, undefined, '--url', 'http://127.0.0.1:1'), 3, /^The API at http:\/\/127\.0\.0\.1:1 does not answer: check --url or TRUCKROLL_URL/],
    [await sync(copy, undefined, '--only', 'invoicse'), 2, /^There are no records called invoicse\. Did you mean invoices\?/],
  ] as const) {
    expect(outcome).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
  }
}, 60_000);

test('sync says that another program is writing to the copy', async () => {
  const locked = join(system.folder, 'locked.db');
  const store = await openSqliteStore(locked);
  store.database.exec('BEGIN IMMEDIATE');
  const { code, stderr } = await command('sync', locked, '--only', 'tags');
  store.close();
  expect([code, stderr]).toEqual([3, expect.stringMatching(/cannot be used: another program is writing to it\. End that program, or wait for it\.\n$/)]);
});

test('export --since writes what changed since an export, and a new cursor', async () => {
  const [first, second, third] = ['first', 'second', 'third'].map((name) => join(system.folder, name)) as [string, string, string];
  const { cursor_file: file } = await json('export', first, '--only', 'service-requests', 'tags');
  const id = await request();
  const { changes, cursor } = await json('export', second, '--only', 'service-requests', 'tags', '--since', file);
  expect([changes, linesOf('second/changes.ndjson').map((change) => [change['kind'], change['id'], change['change']])]).toEqual([
    1,
    [['service-requests', id, 'UPSERTED']],
  ]);
  expect(readFileSync(join(second, 'cursor'), 'utf8')).toBe(`${cursor}\n`);
  // The cursor itself, as the command prints it.
  expect(await json('export', third, '--only', 'service-requests', 'tags', '--since', cursor)).toMatchObject({ changes: 0 });
  expect(linesOf('third/changes.ndjson')).toEqual([]);
  const shown = await command('export', third, '--only', 'tags', '--since', cursor);
  expect(shown.stdout).toMatch(/^0 changes exported in \d+ s\. Cursor, for the next --since:\n\S+\n$/);
  const wrong = await command('export', third, '--since', 'nonsense');
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('The cursor is not one of this feed.') });
});
