// Checks stored records against the current import rules, which may be stricter than those that accepted them.
import { JsonBuffer, JsonWriter, codec } from '@truckroll/contract';
import type { BrokenRule, CheckRecordsResponse } from '@truckroll/contract/gen/records/v1/record_checks';
import { binaryArrays, type Queryable } from '@truckroll/postgres';
import { asRead } from './as-read.ts';
import { readLine } from './import-lines.ts';
import { RECORD_SIZE, portionsOf } from './large.ts';
import { idType } from './list-query.ts';
import { RecordError } from './record-error.ts';
import type { Table } from './table.ts';

/** Records per page; fewer if they are large. */
const PAGE = 100;
const MOST_OF_A_RECORD = 10;

/** Checks every record of a company in these tables, a page at a time. Errors: 503 if PostgreSQL is unreachable. */
export async function* checkStored(db: Queryable, tables: readonly Table[], companyId: string): AsyncIterable<CheckRecordsResponse> {
  for (const table of tables as readonly Table<unknown>[]) {
    // Records that are the same in every company come with the release.
    if (table.everyCompany === true) continue;
    for (let after: string | null = null; ; ) {
      const page: StoredRow[] = await pageAfter(db, table, companyId, after);
      if (page.length === 0) break;
      yield { path: table.path, checked: page.length, broken: page.flatMap((row) => brokenBy(table, row)) };
      after = page.at(-1)?.id ?? null;
    }
  }
}

interface StoredRow {
  id: string;
  document: Buffer;
  derived: Buffer | null;
}

async function pageAfter(db: Queryable, table: Table<unknown>, companyId: string, after: string | null): Promise<StoredRow[]> {
  const type = idType(table);
  const { rows: sizes } = await db.query<{ id: string; size: number }>({
    name: `check_${table.table}_${after === null ? 'first' : 'next'}`,
    text: `select id, ${RECORD_SIZE} as size from ${table.table}
      where company_id = $1 ${after === null ? '' : `and id > $2::${type}`} order by id limit ${PAGE}`,
    values: [companyId, ...(after === null ? [] : [after])],
  });
  const { rows } = await db.query<StoredRow>({
    name: `check_${table.table}`,
    text: `select id, document, derived from ${table.table} where company_id = $1 and id = any($2::${type}[]) order by id`,
    values: [companyId, binaryArrays[type](portionsOf(sizes)[0] ?? [])],
  });
  return rows;
}

const writer = new JsonWriter();

function brokenBy(table: Table<unknown>, { id, document, derived }: StoredRow): BrokenRule[] {
  const shown = asRead(table, { document, ...(derived === null ? {} : { derived }) });
  const { record: shape } = table.resource;
  try {
    const json = new JsonBuffer();
    writer.write(shape, shown, 0, shown.length, json);
    const read = readLine(table, json.view());
    if ('problems' in read) return read.problems.slice(0, MOST_OF_A_RECORD).map((problem) => ({ id, ...problem }));
    table.checkShown?.(codec(shape.typeName).decode(shown));
    return [];
  } catch (error) {
    if (error instanceof RecordError) return [{ id, field: error.field, code: 'OUT_OF_RANGE', message: `${error.message}.` }];
    return [{ id, field: '(line)', code: 'INTERNAL_ERROR', message: `It could not be checked: ${String(error)}` }];
  }
}
