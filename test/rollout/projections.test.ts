// A rule that changes its result without a new version would leave all stored records with the old result (docs/adr/0005).
import { hash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { recordOwners, resource, type RecordOwner } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { companies } from '../../services/reporting/src/read-models/companies.ts';
import { readModels } from '../../services/reporting/src/read-models/index.ts';
import type { Table } from '../../packages/record-store/src/index.ts';
import { importRecords } from '../support/company.ts';
import { startOwners, tablesOf, type Owners } from '../support/owners.ts';

interface Accepted extends Result {
  version: number;
}

interface Result {
  result: string;
  plain?: string;
}

interface Ruled {
  path: string;
  table: string;
  version: number;
  columns: readonly string[];
  links: readonly string[];
}

const company = '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c';
const RECORDS = new URL('./records/', import.meta.url);
const FILE = new URL('./projections.json', import.meta.url);
const accepting = process.env['ACCEPT_PROJECTIONS'] === '1';
const accepted = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Accepted>;
const files = readdirSync(RECORDS).sort();
let owners: Owners;

const records = recordOwners.flatMap((owner) =>
  tablesOf[owner].map(({ path, table, version, columns, links, search, derive }: Table) => ({
    owner,
    table: {
      path,
      table,
      version,
      columns: [...columns.map(({ name }) => name), ...(derive === undefined ? [] : ['derived'])],
      links: Object.values({ ...links, ...(search && { search }) }).map((of) => of.table),
    },
  })),
);
const modelled = readModels.map(({ table, version, columns, id }) => ({
  owner: 'reporting' as const,
  table: { path: `copies/${table}`, table, version, columns: [...(id === undefined ? ['id'] : []), ...columns], links: [] },
}));
const all: { owner: RecordOwner; table: Ruled }[] = [...records, ...modelled];

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
  const settings = { ...CompanyAccount.decode(new Uint8Array()), timezone: 'America/Chicago', costing_enabled: true, verified_only: true };
  const events = [{ key: company, time: 1_772_377_200_000_000, payload: Buffer.from(CompanyAccount.encode(settings).finish()) }];
  for (const model of readModels) {
    if (model === companies) await owners.databases.reporting.transaction((tx) => model.store(tx, company, events));
    const owner = model.topic.name.split('.')[1] as RecordOwner;
    if (!recordOwners.includes(owner)) continue;
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

type Row = Readonly<Record<string, unknown>>;

/** All columns except the document, and those that say when, by which version and in which transaction the row was written. */
async function rowsOf(owner: RecordOwner, table: string): Promise<Row[]> {
  const { rows } = await owners.databases[owner].query<{ row: Row }>({
    text: `select to_jsonb(t) - 'company_id' - 'document' - 'projection' - 'copied_at' - 'change_version' as row from ${table} t
      where company_id in ($1, '00000000-0000-0000-0000-000000000000')`,
    values: [company],
  });
  return rows.map(({ row }) => row);
}

/** Leaves out columns that are null in all rows, so that adding a column changes nothing until a rule fills it. */
function only(rows: readonly Row[], isWanted: (column: string) => boolean): Row[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== null && isWanted(name))));
}

function digestOf(tables: readonly (readonly Row[])[]): string {
  const sorted = (row: Row): string => JSON.stringify(Object.entries(row).sort());
  return hash('sha256', JSON.stringify(tables.map((rows) => rows.map(sorted).sort())));
}

async function resultOf(owner: RecordOwner, { table, columns, links }: Ruled): Promise<Result> {
  const rows = await rowsOf(owner, table);
  const linked = await Promise.all(links.map((link) => rowsOf(owner, link)));
  const result = digestOf([only(rows, (name) => columns.includes(name)), ...linked.map((each) => only(each, () => true))]);
  const plain = only(rows, (name) => !columns.includes(name));
  return plain.every((row) => Object.keys(row).length === 0) ? { result } : { result, plain: digestOf([plain]) };
}

const ACCEPT = 'run this test once with ACCEPT_PROJECTIONS=1, and commit test/rollout/projections.json';

function remedyOf(path: string, before: Accepted | undefined, now: Accepted): string {
  if (before?.version !== now.version) return ACCEPT;
  if (before.result === now.result) return `no rule fills the columns of ${path} that have changed, so stored records stay as they are: ${ACCEPT}`;
  return (
    `the rules fill the columns, derived part or links of ${path} otherwise: raise its version by one in its file, so that stored records are projected anew, then ${ACCEPT}. ` +
    `If only the fixed records of ${path} have changed, remove it from test/rollout/projections.json instead of raising its version`
  );
}

test.each(all.map(({ owner, table }) => [table.path, owner, table] as const))(
  'computes the accepted result of %s for its version',
  async (path, owner, table) => {
    const now: Accepted = { version: table.version, ...(await resultOf(owner, table)) };
    const before = accepted[path];
    const isPlain = before?.version === now.version && before.result === now.result;
    if (accepting && (before === undefined || before.version < now.version || isPlain)) accepted[path] = now;
    const remedy = remedyOf(path, before, now);
    expect({ path, remedy, ...now }).toEqual({ path, remedy, ...accepted[path] });
  },
);

/** `document` is not read here. `unshown` names a field too large for cents, which an import refuses. */
const UNFILLED = ['document', 'unshown'];

test.each(all.map(({ owner, table }) => [table.path, owner, table] as const))(
  'has fixed records of %s that fill each column and link',
  async (_, owner, table) => {
    const rows = await rowsOf(owner, table.table);
    const columns = table.columns.filter((name) => !UNFILLED.includes(name) && rows.every((row) => row[name] == null));
    const linked = await Promise.all(table.links.map(async (link) => ((await rowsOf(owner, link)).length === 0 ? [link] : [])));
    expect([...columns, ...linked.flat()]).toEqual([]);
  },
);

test('has fixed records of every kind that is imported', () => {
  const missing = records.map(({ table }) => table.path).filter((path) => path !== 'job-classes' && !files.includes(`${path}.ndjson`));
  expect(missing).toEqual([]);
});
