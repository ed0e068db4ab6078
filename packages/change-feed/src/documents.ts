import { uuidOf, type Database } from '@truckroll/postgres';
import type { OwnedKind } from './kinds.ts';

/** Kinds whose table has the record as a reader gets it, encoded, in its column `document`. */
export function documentKind(database: Database, kind: string, table: string): OwnedKind {
  return {
    kind,
    table,
    async read({ companyId }, ids) {
      const rows = await database.of(companyId).queryBinary({
        name: `changed_documents_${table}`,
        text: `select id, document from ${table} where company_id = $1 and id = any($2::uuid[])`,
        values: [companyId, ids],
      });
      const documents = new Map(rows.map(([id, document]) => [uuidOf(id as Buffer), document as Buffer]));
      return ids.map((id) => {
        const record = documents.get(id);
        return record && { id, record };
      });
    },
  };
}
