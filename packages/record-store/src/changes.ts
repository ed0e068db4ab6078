// The records of a service as kinds of the change feed (decisions §14).
import { createHash } from 'node:crypto';
import { BatchGetRecordsResponse } from '@truckroll/contract/gen/records/v1/record_reads';
import type { ZonedCompany, OwnedKind, ReadRecord } from '@truckroll/change-feed';
import { idType } from './list-query.ts';
import { RecordReader, type ReaderOptions } from './read.ts';
import { EVERY_COMPANY, type Table } from './table.ts';

/** A kind for each table, with records as RecordReader reads them. Ids in the log are uuids: of an id that is a code, its MD5 hash. */
export function recordKinds(tables: readonly Table[], options: ReaderOptions): OwnedKind[] {
  return tables.map((table): OwnedKind => {
    const reader = new RecordReader(table, options);
    const codes = idType(table) === 'text';
    return {
      kind: table.path,
      table: table.table,
      codes,
      ...(table.everyCompany === true ? { storedUnder: EVERY_COMPANY } : {}),
      read: async (company, ids, most) => readEach(reader, company, codes ? await codesOf(table, options, company, ids) : ids, most),
    };
  });
}

async function readEach(
  reader: RecordReader,
  { companyId, timeZone }: ZonedCompany,
  ids: readonly string[],
  most: number,
): Promise<(ReadRecord | undefined)[]> {
  const keys = ids.map((id) => ({ company_id: companyId, time_zone: timeZone, id }));
  const { reads } = BatchGetRecordsResponse.decode(await reader.firstOf(keys, most));
  return reads.map(({ data }, index) => (data == null ? undefined : { id: ids[index] as string, record: data }));
}

async function codesOf({ table }: Table, { database }: ReaderOptions, { companyId }: ZonedCompany, hashes: readonly string[]): Promise<string[]> {
  const { rows } = await database.of(companyId).query<{ id: string }>({
    name: `codes_of_${table}`,
    text: `select id from ${table} where company_id = $1`,
    values: [EVERY_COMPANY],
  });
  const byHash = new Map(rows.map(({ id }) => [createHash('md5').update(id).digest('hex'), id]));
  return hashes.map((hash) => byHash.get(hash.replaceAll('-', '')) ?? '');
}
