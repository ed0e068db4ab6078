// How PostgreSQL reads the worst searches: two words that stand in half of the records each and rarely meet. PLANS=1 prints the plans.
import { randomUUID } from 'node:crypto';
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { SEARCH_LIMITS } from '../../packages/record-store/src/find.ts';
import { lastWalked, listStatement } from '../../packages/record-store/src/list-query.ts';
import type { ListRequest } from '../../packages/record-store/src/list-request.ts';
import { termsOf } from '../../packages/record-store/src/terms.ts';
import { accounts } from '../../services/scheduling/src/resources/accounts.ts';
import { schema } from '../../services/scheduling/src/schema.ts';
import { nodesOf, type PlanNode } from './plan-nodes.ts';

/** Accounts of each of two companies. The second one's rows must not be read. */
const ACCOUNTS = 30_000;
const company = randomUUID();
let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase({ [schema.schema]: schema.migrations });
  drop = fresh.drop;
  database = new Database({ url: fresh.url, schema: schema.schema, maxConnections: 1 });
  await database.query({ text: 'alter table accounts disable trigger guard_projection' });
  for (const id of [company, randomUUID()]) {
    // The first half is in the north, the second in the south, and one in 10,000 in both. One in three has a street that no other has.
    await database.query({
      text: `with made as (
          select n, gen_random_uuid() as id, timestamptz '2024-01-01' + n * interval '1 minute' as at,
            array_remove(array[case when n < $2 / 2 or n % 10000 = 7 then 'northside' end, case when n >= $2 / 2 or n % 10000 = 7 then 'southside' end,
              case when n % 30 = 0 then 'oak' end, case when n % 31 = 0 then 'elm' end], null) as words
          from generate_series(1, $2::int) n
        ), stored as (
          insert into accounts (company_id, id, created_at, updated_at, type, archived, document, search, projection)
          select $1, id, at, at, 'RESIDENTIAL', false, '', chr(10) || array_to_string(words, chr(10)) || chr(10), $3::int from made
        )
        insert into account_entries (company_id, value, created_at, id) select $1, word, at, id from made, unnest(words) word`,
      values: [id, ACCOUNTS, accounts.version],
    });
  }
  await database.query({ text: 'vacuum analyze accounts' });
  await database.query({ text: 'vacuum analyze account_entries' });
}, 120_000);
afterAll(async () => {
  await database.close();
  await drop();
});

async function planOf({ text, values = [] }: { text: string; values?: unknown[] }): Promise<PlanNode[]> {
  if (process.env['PLANS'] !== undefined) {
    const { rows } = await database.query<{ 'QUERY PLAN': string }>({ text: `explain (analyze, costs off, summary off) ${text}`, values });
    process.stdout.write(`${text.replaceAll(/\s+/g, ' ')}\n${rows.map((row) => row['QUERY PLAN']).join('\n')}\n\n`);
  }
  const { rows } = await database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({ text: `explain (analyze, format json) ${text}`, values });
  return nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan);
}

const requestFor = (search: string): ListRequest => ({
  collection: { company_id: company, time_zone: 'UTC', limit: 50, after: new Uint8Array(), ids: [] },
  search,
});

/** Rows that a plan reads of tables and indexes. */
const readBy = (nodes: readonly PlanNode[]): number =>
  nodes.filter(({ 'Node Type': type }) => /Scan$/.test(type)).reduce((sum, each) => sum + each['Actual Rows'] * each['Actual Loops'], 0);

test('frequent words that rarely meet are looked for in a bounded part of the list, by its index', async () => {
  const request = requestFor('northside southside');
  const { walked } = SEARCH_LIMITS;
  expect((await database.query(listStatement(accounts, request, { walked }) as never)).rows).toHaveLength(1);
  for (const statement of [listStatement(accounts, request, { walked }), lastWalked(accounts, request, walked)]) {
    const nodes = await planOf(statement as never);
    expect(nodes.filter(({ 'Node Type': type }) => type === 'Seq Scan')).toEqual([]);
    expect(readBy(nodes)).toBeGreaterThan(walked);
    expect(readBy(nodes)).toBeLessThanOrEqual(2 * walked + 2);
  }
});

test('words that stand in fewer records than are counted are read from their own index alone', async () => {
  const request = requestFor('oak elm');
  const unions = termsOf(accounts, request).map((term) => term.flat());
  const nodes = await planOf(listStatement(accounts, request, { unions }) as never);
  expect(nodes.filter(({ 'Node Type': type }) => type === 'Seq Scan')).toEqual([]);
  expect(nodes.map((node) => node['Index Name'])).toContain('account_entries_pkey');
  // The entries of both words, and the accounts that have both.
  expect(readBy(nodes)).toBeLessThan(3 * (ACCOUNTS / 30 + ACCOUNTS / 31));
});
