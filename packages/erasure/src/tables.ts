// What a schema has of a company. Tables with a column company_id are found by themselves, so that a new table is never forgotten; others
// have a rule. test/leaving/tables.test.ts holds every table to this.
import type { Queryable } from '@truckroll/postgres';

export interface TableRule {
  readonly table: string;
  /** SQL condition of the company's rows, whose id is $1::uuid. */
  readonly where: string;
  /** Rows of other tables that go with each row: by table the SQL condition of `o`, one of these, with the columns `key` of `g`, the row. */
  readonly with?: { readonly key: string; readonly rows: Readonly<Record<string, string>> };
  /** Removed after all others, in the order of the rules: rows of other tables refer to these. */
  readonly last?: true;
}

/** A rule of a table, or of one partition: the place of a row, by which batches are limited, is unique only within it. */
export interface Rule extends TableRule {
  readonly only: string;
}

/** Tables that triggers fill while rows of others are removed: emptied after these. */
const FILLED = ['due_notes', 'record_changes', 'spoiled_summaries'];

/** Tables whose company_id is none of a stored record, and what becomes of them. */
const OWN_WAYS: Readonly<Record<string, string>> = {
  outbox: 'goes to Kafka within moments, and is waited for',
  catch_up: 'a cursor over all companies, which is moved',
};

/**
 * Tables of which nothing is copied when a company moves to another database, and why (docs/adr/0025). Every other table has a replica identity
 * that contains its company (test/leaving/replica-identities.test.ts).
 */
export const STAYS: Readonly<Record<string, string>> = {
  applied_until: 'times of sources of this database',
  catch_up: 'cursors over all companies of this database',
  change_compactions: 'how far this database has compacted its log of changes',
  company_places: 'where this cell believes the company to live',
  due_notes: 'notes of what the sums lack, which are copied at the switch, when no more are made',
  erased_companies: 'a company that is being deleted does not move',
  frozen_companies: 'a freeze is of this database',
  inbox: 'ids of events of this database',
  inbox_version: 'versions of this database: those of another one say nothing here',
  migration: 'names of migrations',
  moves: 'how far the move itself is',
  outbox: 'messages to Kafka, which are sent before a company moves',
  parked_event: 'messages of this Kafka, which are applied before a company moves',
  pending_invalidations: 'messages to Redis, which are sent before a company moves',
  positions: 'offsets of topics of this Kafka',
  projection_release: 'a number of this database',
  shifts: 'how versions of this database are shown',
  watermarks: 'offsets of topics of this Kafka',
  webhook_rates: 'the part of a second that an endpoint has used up',
  webhook_workers: 'ids of processes',
};

/** SQL condition of the dead letters of the company $1. */
export const IN_DEAD_LETTERS = `starts_with(coalesce(key, ''), $1::text) or $1::text in (headers ->> 'companyId', headers ->> 'header ce_companyid')`;

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
    { table: 'parked_event', where: IN_DEAD_LETTERS },
  ];
}

/** All rules of the schema, in the order of removal. */
export async function rulesOf(db: Queryable, own: readonly TableRule[]): Promise<readonly Rule[]> {
  const { rows } = await db.query<{ table: string; only: string; named: boolean }>({
    name: 'tables_and_partitions',
    text: `select t.relname::text as table, c.relname::text as only,
        exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'company_id' and not a.attisdropped) as named
      from pg_class c join pg_class t on t.oid = coalesce(pg_partition_root(c.oid), c.oid)
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by 1, 2`,
  });
  const tables = Map.groupBy(rows, ({ table }) => table);
  const ruled = new Set([...own.flatMap((rule) => [rule.table, ...Object.keys(rule.with?.rows ?? {})]), ...Object.keys(OWN_WAYS)]);
  const found = [...tables.values()].flatMap(([of]) => (of?.named === true && !ruled.has(of.table) ? [of.table] : []));
  const named = [...found.filter((table) => !FILLED.includes(table)), ...found.filter((table) => FILLED.includes(table))];
  const all: readonly TableRule[] = [
    ...own.filter(({ last }) => last !== true),
    ...named.map((table) => ({ table, where: 'company_id = $1::uuid' })),
    ...own.filter(({ last }) => last === true),
  ];
  return all.flatMap((rule) => (tables.get(rule.table) ?? []).map(({ only }): Rule => ({ ...rule, only })));
}

/** Rows of a table that are counted: a large company is counted within seconds. */
const MOST_COUNTED = 100_000;

/** Number of the company's rows, without tables in which there are none. */
export async function countRows(db: Queryable, rules: readonly Rule[], companyId: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const earlier = new Map<string, string[]>();
  for (const { table, only, where } of rules) {
    // Rows that an earlier rule of the table has counted.
    const not = (earlier.get(only) ?? []).map((each) => ` and (${each}) is not true`).join('');
    earlier.set(only, [...(earlier.get(only) ?? []), where]);
    const { rows } = await db.query<{ count: number }>({
      text: `select count(*) from (select from only ${only} where (${where})${not} limit ${MOST_COUNTED - (counts.get(table) ?? 0)}) counted`,
      values: [companyId],
    });
    const count = rows[0]?.count ?? 0;
    if (count > 0) counts.set(table, (counts.get(table) ?? 0) + count);
  }
  return counts;
}
