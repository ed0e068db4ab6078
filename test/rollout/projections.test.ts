// What the rules make of records that never change, held against what was accepted: a rule that comes to something else
// without a new version would leave every stored record as the old rule had it (docs/adr/0005).
import { hash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { resource, type RecordOwner } from '@truckroll/contract';
import type { Projected } from '../../packages/record-store/src/index.ts';
import { readModels } from '../../services/reporting/src/read-models/index.ts';
import { importRecords } from '../support/company.ts';
import { RECORD_OWNERS, startOwners, tablesOf, type Owners } from '../support/owners.ts';

interface Accepted {
  version: number;
  /** SHA-256 of what the rules come to. */
  result: string;
}

const company = '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c';
const RECORDS = new URL('./records/', import.meta.url);
const FILE = new URL('./projections.json', import.meta.url);
const accepting = process.env['ACCEPT_PROJECTIONS'] === '1';
const accepted = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Accepted>;
const files = readdirSync(RECORDS).sort();
let owners: Owners;

const records = RECORD_OWNERS.flatMap((owner) =>
  tablesOf[owner].map((table) => ({ owner, table: { path: table.path, table: table.table, version: table.version } })),
);
const modelled = readModels.map(({ table, version }) => ({ owner: 'reporting' as const, table: { path: `copies/${table}`, table, version } }));
const all: { owner: RecordOwner; table: Projected }[] = [...records, ...modelled];

beforeAll(async () => {
  owners = await startOwners();
  for (const file of files) {
    const path = file.replace('.ndjson', '');
    const { problems } = await importRecords(
      owners.channels[resource(path).owner as RecordOwner],
      company,
      path,
      readFileSync(new URL(file, RECORDS), 'utf8').trim().split('\n'),
    );
    expect({ path, problems }).toEqual({ path, problems: [] });
  }
  for (const model of readModels) {
    const owner = model.topic.name.split('.')[1] as RecordOwner;
    if (!RECORD_OWNERS.includes(owner)) continue;
    const { rows } = await owners.databases[owner].query<{ key: string; time: number; payload: Buffer }>({
      text: 'select distinct on (key) key, created_at as time, payload from outbox where topic = $1 order by key, id desc',
      values: [model.topic.name],
    });
    await owners.databases.reporting.transaction((tx) => model.store(tx, company, rows));
  }
});
afterAll(async () => {
  await owners.stop();
  if (accepting) writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(Object.entries(accepted).sort()), null, 2)}\n`);
});

/** Columns, derived part and links; not the document, nor when and by which version a row was written. */
async function resultOf(owner: RecordOwner, { table, path }: Projected): Promise<string> {
  const database = owners.databases[owner];
  const links = Object.values(tablesOf[owner].find((candidate) => candidate.path === path)?.links ?? {}).map((link) => link.table);
  const found: unknown[] = [];
  for (const name of [table, ...links]) {
    const { rows } = await database.query<{ row: Record<string, unknown> }>({
      text: `select to_jsonb(t) - 'document' - 'projection' - 'copied_at' as row from ${name} t where company_id in ($1, '00000000-0000-0000-0000-000000000000') order by to_jsonb(t)::text collate "C"`,
      values: [company],
    });
    found.push(
      rows.map(({ row }) =>
        JSON.stringify(
          Object.entries(row)
            .filter(([, value]) => value !== null)
            .sort(),
        ),
      ),
    );
  }
  return hash('sha256', JSON.stringify(found));
}

it.each(all.map(({ owner, table }) => [table.path, owner, table] as const))('makes of %s what was accepted for its version', async (path, owner, table) => {
  const now: Accepted = { version: table.version, result: await resultOf(owner, table) };
  const before = accepted[path];
  if (accepting && (before === undefined || before.version < now.version)) accepted[path] = now;
  const remedy =
    before?.version === now.version
      ? `raise the version of ${path} by one in its file, so that stored records are projected anew; then run this test once with ACCEPT_PROJECTIONS=1`
      : 'run this test once with ACCEPT_PROJECTIONS=1, and commit test/rollout/projections.json';
  expect({ path, remedy, ...now }).toEqual({ path, remedy, ...accepted[path] });
});

it('has fixed records of every kind that is imported', () => {
  const missing = records.map(({ table }) => table.path).filter((path) => path !== 'job-classes' && !files.includes(`${path}.ndjson`));
  expect(missing).toEqual([]);
});
