import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { owners } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { HANG } from '../../faults/wait.ts';
import { openSqliteStore, type SqliteStore } from '../../../packages/client/src/stores/sqlite.ts';
import { withoutAging } from '../compared.ts';
import { truckroll } from './command.ts';
import { clientOf, type Reader } from './readers.ts';
import type { World } from './world.ts';

const PAUSE_MS = 500;
/** Kinds that an export reads from the feed, and their tables: what the feed lacked, the export lacks too. */
const FEED_ONLY = { 'service-requests': 'scheduling.service_requests', interactions: 'scheduling.interactions' };

type Fields = Record<string, unknown>;
type Records = Map<string, Fields>;

/** What is wrong with the copies once everything has been read; what is still wrong after that time never becomes right. */
export async function differences(world: World, readers: readonly Reader[], folder: string, atMostMs: number): Promise<string[]> {
  await until('empty outboxes', () => isPublished(world), Boolean, HANG);
  const end = performance.now() + atMostMs;
  const settled = ({ length }: readonly string[]): boolean => length === 0 || performance.now() > end;
  const wrong = await until('copies that equal an export', () => wrongRecords(world, readers, folder), settled, { atMostMs: Infinity, everyMs: PAUSE_MS });
  return wrong.length === 0 ? await wrongDigests(world, readers) : wrong;
}

async function wrongRecords(world: World, readers: readonly Reader[], folder: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const reader of readers) await synced(world, reader);
  const exported = await exportOf(world, folder);
  for (const { file } of readers) wrong.push(...(await withStore(file, async (store) => compare(recordsOf(store), exported))));
  return wrong;
}

async function isPublished({ installation }: World): Promise<boolean> {
  const waiting = owners.map((owner) => `select from ${owner}.outbox`);
  const { rows } = await installation.database.query<{ waiting: boolean }>({ text: `select exists (${waiting.join(' union all ')}) as waiting` });
  return rows[0]?.waiting === false;
}

async function withStore<T>(file: string, work: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(file);
  return work(store).finally(() => store.close());
}

const synced = (world: World, { file, limit }: Reader) => withStore(file, (store) => clientOf(world).sync(store, { limit }));

function recordsOf({ database }: SqliteStore): Records {
  const rows = database.prepare('select kind, id, record from records').all() as { kind: string; id: string; record: string }[];
  return new Map(rows.map(({ kind, id, record }) => [`${kind}/${id}`, JSON.parse(record) as Fields]));
}

async function exportOf({ installation, company }: World, folder: string): Promise<Records> {
  mkdirSync(folder, { recursive: true });
  const env = { TRUCKROLL_URL: installation.baseUrl, TRUCKROLL_API_KEY: company.apiKey };
  await truckroll(['--json', 'export', folder], env, folder);
  const records: Records = new Map();
  const put = (kind: string, record: Fields): void => void records.set(`${kind}/${String(record['id'])}`, record);
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.ndjson'))) {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean);
    for (const line of lines) put(name.replace('.ndjson', ''), JSON.parse(line));
  }
  put('company', JSON.parse(readFileSync(join(folder, 'company.json'), 'utf8')));
  for (const [kind, table] of Object.entries(FEED_ONLY)) {
    const { rows } = await installation.database.query<{ id: string }>({ text: `select id from ${table} where company_id = $1`, values: [company.id] });
    for (const { id } of rows) if (!records.has(`${kind}/${id}`)) put(kind, { id });
  }
  return records;
}

function compare(own: Records, exported: Records): string[] {
  const missed = [...exported.keys()].filter((key) => !own.has(key)).map((key) => `missed ${key}`);
  const phantom = [...own.keys()].filter((key) => !exported.has(key)).map((key) => `phantom ${key}`);
  const both = [...own].filter(([key]) => exported.has(key));
  const stale = both.filter(([key, record]) => !isDeepStrictEqual(withoutAging(record), withoutAging(exported.get(key)!))).map(([key]) => `stale ${key}`);
  return [...missed, ...phantom, ...stale];
}

async function wrongDigests(world: World, readers: readonly Reader[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { file } of readers) {
    const compared = await withStore(file, (store) => clientOf(world).verify(store));
    wrong.push(...compared.filter(({ equal, records, compared: some }) => !equal || some !== records).map(({ kind }) => `digest of ${kind}`));
  }
  return wrong;
}
