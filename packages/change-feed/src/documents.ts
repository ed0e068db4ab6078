import { uuidOf, type Database } from '@truckroll/postgres';
import type { OwnedKind } from './kinds.ts';

/** Kinds whose table has the record as a reader gets it, encoded, in its column `document`. */
export function documentKind(database: Database, kind: string, table: string): OwnedKind {
  return {
    kind,
    table,
    async read({ companyId }, ids, most) {
      const rows = await database.of(companyId).queryBinary({
        name: `changed_documents_${table}`,
        // Ends with the first row that does not fit, without its document.
        text: `select id, case when sum <= $3 or sum = size then document end
          from (select k.n, t.id, t.document, octet_length(t.document) as size, sum(octet_length(t.document)) over (order by k.n) as sum
            from unnest($2::uuid[]) with ordinality k(id, n) join ${table} t on t.company_id = $1 and t.id = k.id) r
          where sum - size <= $3 order by n`,
        values: [companyId, ids, most],
      });
      const documents = new Map(rows.map(([id, document]) => [uuidOf(id as Buffer), document as Buffer | null]));
      const unread = ids.findIndex((id) => documents.get(id) === null);
      return (unread === -1 ? ids : ids.slice(0, unread)).map((id) => {
        const record = documents.get(id);
        return record == null ? undefined : { id, record };
      });
    },
  };
}
