// Texts that still name an erased person are listed up to a limit, and the others counted.
import type { FindMentionsResponse } from '@truckroll/contract/gen/records/v1/erasures';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import type { ExportedTable } from '../../packages/erasure/src/index.ts';
import { SHAPES } from '../../packages/erasure/src/export.ts';
import { mentions, mentionsIn } from '../../packages/erasure/src/mentions.ts';
import { schema } from '../../services/reporting/src/schema.ts';

const COMPANY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const NAMED = 1003;
const NAMES: ExportedTable = { table: 'names', key: { kind: 'text', id: 'uuid' }, columns: ['id', 'kind', 'name'], without: {} };

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
  const text = `insert into names (company_id, kind, id, name, version) select $1, 'jobs', md5(n || $2)::uuid, $2, 1 from generate_series(1, $3) n`;
  for (const values of [
    [COMPANY, 'for Ann Lee, at noon', NAMED],
    [COMPANY, 'for Joann Lee', 2],
    [COMPANY, 'at noon\nBob Ray\tand "Cy', 1],
    [COMPANY.replace('7', '8'), 'for Ann Lee', 1],
  ])
    await database.query({ text, values });
}, 60_000);
afterAll(() => close());

async function find(texts: string[]): Promise<{ fields: Set<string>; ids: Set<string>; more: number }> {
  const found = { fields: new Set<string>(), ids: new Set<string>(), more: 0 };
  const { findMentions } = mentions({ database, kinds: [], written: [NAMES] });
  const answers = findMentions({ company_id: COMPANY, texts }, { signal: new AbortController().signal } as never);
  for await (const answer of answers as AsyncIterable<FindMentionsResponse>) {
    found.more += answer.more;
    for (const { kind, id, field } of answer.mentions) {
      found.fields.add(`${kind}.${field}`);
      found.ids.add(id);
    }
  }
  return found;
}

test('lists 1,000 texts of the company, and counts the rest', async () => {
  const { fields, ids, more } = await find(['Ann Lee']);
  expect([...fields]).toEqual(['names.name']);
  expect([ids.size, more]).toEqual([1000, NAMED - 1000]);
});

test('lists the record that has the name, and not those that refer to it', () => {
  const isMention = (text: string): boolean => text.includes('Ann Lee');
  const job = { id: COMPANY, number: '7', account: { id: COMPANY, name: 'Ann Lee' }, summary: 'call Ann Lee' };
  const fields = (kind: string, record: object) => mentionsIn(kind, SHAPES.get(kind), JSON.stringify(record), isMention).map(({ field }) => field);
  expect(fields('jobs', job)).toEqual(['summary']);
  expect(fields('accounts', { id: COMPANY, name: 'Ann Lee' })).toEqual(['name']);
});

test.each(['Bob Ray', 'Ray and', 'and Cy'])('finds %s next to a line break, a tab or a quotation mark', async (name) => {
  expect((await find([name])).ids.size).toBe(1);
});

test.each([
  ['none', []],
  ['101', Array.from({ length: 101 }, () => 'Ann Lee')],
  ['a long one', ['é'.repeat(251)]],
])('refuses %s', async (_, texts) => {
  await expect(find(texts)).rejects.toMatchObject({ status: 400, details: [{ field: 'texts' }] });
});
