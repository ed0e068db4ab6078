// What of a company is moved: its rows of every table, except those of STAYS (docs/adr/0025).
import { owners } from '@truckroll/contract';
import { STAYS } from '@truckroll/erasure';
import type { Queryable } from '@truckroll/postgres';

export interface MovedTable {
  /** As in SQL, with its schema. */
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  /** The column with the company's id. */
  readonly key: string;
  /** Names and types, in order. */
  readonly columns: string;
  readonly names: readonly string[];
  /** Names of the primary key's columns. */
  readonly identity: readonly string[];
}

/** The log of the change feed, in each schema. */
export const LOG = 'record_changes';

/** Each cell adds to it what is done there, also while the company lives elsewhere. */
export const TRAIL = 'integrations.audit_events';

/** Those that give access come last: the company can be reached when the rest of it is there. */
const ACCESS = ['companies', 'users', 'api_keys'];

export async function tablesOf(db: Queryable): Promise<readonly MovedTable[]> {
  const { rows } = await db.query<MovedTable>({
    text: `select format('%I.%I', n.nspname, c.relname) as name, n.nspname::text as schema, c.relname::text as table, k.attname::text as key,
        string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum) as columns,
        array_agg(quote_ident(a.attname) order by a.attnum) as names,
        coalesce(array_agg(quote_ident(a.attname) order by a.attnum) filter (where a.attnum = any(p.indkey)), '{}') as identity
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute k on k.attrelid = c.oid and not k.attisdropped
        and k.attname = case when n.nspname = 'integrations' and c.relname = 'companies' then 'id' else 'company_id' end
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_index p on p.indrelid = c.oid and p.indisprimary
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($2)
      group by n.nspname, c.relname, k.attname order by n.nspname = 'integrations' and c.relname = any($3), n.nspname, c.relname`,
    values: [owners, Object.keys(STAYS), ACCESS],
  });
  return rows;
}

export interface SizeOfRows {
  readonly rows: number;
  readonly bytes: number;
}

export async function sizeOf(db: Queryable, { name, key }: MovedTable, companyId: string): Promise<SizeOfRows> {
  const { rows } = await db.query<SizeOfRows>({
    text: `select count(*) as rows, coalesce(sum(pg_column_size(t.*)), 0)::bigint as bytes from ${name} t where ${key} = $1`,
    values: [companyId],
  });
  return rows[0]!;
}

/**
 * Names of tables with rows of the company. Two kinds of rows may be there without it: operators' calls in the trail, and erasures of people, which
 * services learn again from a topic that keeps them.
 */
export async function tablesWith(db: Queryable, companyId: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, table, key } of await tablesOf(db)) {
    if (name === TRAIL || table === 'erased_people') continue;
    const { rowCount } = await db.query({ text: `select from ${name} where ${key} = $1 limit 1`, values: [companyId] });
    if (rowCount > 0) found.push(name);
  }
  return found;
}

/** The company's own row, which is deleted last. */
export async function hasCompany(db: Queryable, companyId: string): Promise<boolean> {
  return (await db.query({ text: 'select from integrations.companies where id = $1', values: [companyId] })).rowCount > 0;
}
