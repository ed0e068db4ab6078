// What a schema has of a company. Tables with a column company_id are found by themselves, so that a new table is never forgotten; others
// have a rule. test/leaving/tables.test.ts holds every table to this.
import type { Queryable } from '@truckroll/postgres';

export interface TableRule {
  readonly table: string;
  /** SQL condition of the company's rows, whose id is $1::uuid. */
  readonly where: string;
  /** Rows of another table that go with each row, whose columns are those of `g`. */
  readonly with?: { readonly table: string; readonly on: string; readonly key: string };
  /** Removed after all others, in the order of the rules: rows of other tables refer to these. */
  readonly last?: true;
}

/** Tables whose company_id is none of a stored record, and what becomes of them. */
const OWN_WAYS: Readonly<Record<string, string>> = {
  outbox: 'goes to Kafka within moments, and is waited for',
  catch_up: 'a cursor over all companies, which is moved',
};

/** Tables of every schema that name a company in a key. */
export function keyedRules(consumers: readonly { readonly group: string; readonly topics: readonly { readonly name: string }[] }[]): TableRule[] {
  const list = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ') || `''`;
  const groups = list(consumers.map(({ group }) => group));
  const topics = list([...new Set(consumers.flatMap((consumer) => consumer.topics.map(({ name }) => name)))]);
  return [
    // The bounds make the index narrow it down under every collation; the last condition decides.
    {
      table: 'inbox_version',
      where: `consumer in (${groups}) and topic in (${topics}) and key between $1::text and $1::text || 'zz' and starts_with(key, $1::text)`,
    },
    { table: 'parked_event', where: `starts_with(coalesce(key, ''), $1::text) or headers ->> 'companyId' = $1::text` },
  ];
}

/** All rules of the schema, in the order of removal. */
export async function rulesOf(db: Queryable, own: readonly TableRule[]): Promise<readonly TableRule[]> {
  const { rows: tables } = await db.query<{ table: string }>({
    name: 'tables_with_company',
    text: `select c.relname::text as table from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id' and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  });
  const ruled = new Set(own.map(({ table }) => table));
  const found = tables
    .filter(({ table }) => !ruled.has(table) && !(table in OWN_WAYS))
    .map(({ table }): TableRule => ({ table, where: 'company_id = $1::uuid' }));
  return [...own.filter(({ last }) => last !== true), ...found, ...own.filter(({ last }) => last === true)];
}

/** Rows of a table that are counted: a large company is counted within seconds. */
const MOST_COUNTED = 100_000;

/** Number of the company's rows, without tables in which there are none. */
export async function countRows(db: Queryable, rules: readonly TableRule[], companyId: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, where } of rules) {
    const { rows } = await db.query<{ count: number }>({
      text: `select count(*) from (select from ${table} where ${where} limit ${MOST_COUNTED}) counted`,
      values: [companyId],
    });
    const count = rows[0]?.count ?? 0;
    if (count > 0) counts.set(table, (counts.get(table) ?? 0) + count);
  }
  return counts;
}
