// Every record is in the change feed: its table notes changes from the migration that creates it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeKinds, recordOwners } from '@truckroll/contract';
import { Changes } from '../../scripts/new/changes.mjs';
import { addRecord } from '../../scripts/new/record.mjs';
import { startOwners, tablesOf, type Owners } from '../support/owners.ts';
import { Tree } from '../rollout/tree.ts';
import { addRecord as addRolloutRecord } from '../rollout/record.ts';

let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
});
afterAll(() => owners.stop());

const NOTING = ['note_deleted', 'note_inserted', 'note_updated'];
/** Records whose id is a code are few and never removed. */
const NOTING_CODES = ['note_inserted', 'note_updated'];

const tables = recordOwners.flatMap((owner) => tablesOf[owner].map((table) => [table.path, owner, table] as const));

test.each(tables)('the table of %s notes inserts, updates and deletes as that kind', async (path, owner, table) => {
  const database = owners.databases[owner];
  const { rows } = await database.query<{ name: string; kind: string }>({
    text: `select tgname as name, convert_from(substring(tgargs for length(tgargs) - 1), 'UTF8') as kind
      from pg_trigger where tgrelid = $1::regclass and tgname like 'note\\_%' and tgenabled = 'O' order by tgname`,
    values: [table.table],
  });
  const { rows: ids } = await database.query<{ type: string }>({
    text: `select atttypid::regtype::text as type from pg_attribute where attrelid = $1::regclass and attname = 'id'`,
    values: [table.table],
  });
  expect(rows).toEqual((ids[0]?.type === 'text' ? NOTING_CODES : NOTING).map((name) => ({ name, kind: path })));
});

test('each service has a run of the feed for exactly its kinds', async () => {
  for (const owner of recordOwners) {
    const { rows } = await owners.databases[owner].query<{ kind: string }>({ text: `select subject as kind from catch_up where task = 'feed'` });
    const expected = changeKinds.filter((kind) => kind.owner === owner).map(({ kind }) => kind);
    expect([owner, rows.map(({ kind }) => kind).sort()]).toEqual([owner, expected.sort()]);
  }
});

test.each([
  [
    'tips',
    (tree: Tree) => {
      const changes = new Changes(tree.folder);
      addRecord(changes, tree.folder, 'tips', { owner: 'billing' });
      changes.write();
    },
  ],
  ['deposits', addRolloutRecord],
] as const)('the skeleton of %s notes changes', (path, add) => {
  const tree = new Tree();
  try {
    add(tree);
    const folder = join(tree.folder, 'services/billing/migrations');
    const migrations = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(migrations.filter((sql) => sql.includes(`select keep_changes('${path}', '${path}');`))).toHaveLength(1);
  } finally {
    tree.remove();
  }
});
