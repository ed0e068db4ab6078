import type { Database } from '@truckroll/postgres';
import type { OwnedKind, ReadRecord } from './kinds.ts';

/** Kinds whose table has the record as a reader gets it, encoded, in its column `document`. */
export function documentKind(database: Database, kind: string, table: string): OwnedKind {
  return {
    kind,
    table,
    async read({ companyId }, ids) {
      const rows = await database.of(companyId).queryBinary({
        name: `changed_documents_${table}`,
        text: `select k.n::int, t.document from unnest($2::uuid[]) with ordinality k(id, n) join ${table} t on t.company_id = $1 and t.id = k.id`,
        values: [companyId, ids],
      });
      const records = new Array<ReadRecord | undefined>(ids.length);
      for (const [n, document] of rows) {
        const index = (n as Buffer).readInt32BE(0) - 1;
        records[index] = { id: ids[index] as string, record: document as Buffer };
      }
      return records;
    },
  };
}
