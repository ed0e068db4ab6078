// The bug: the tombstone of an assignment is stored in another transaction than the removal. If the process is killed in between,
// the feed never gets the tombstone. The trigger that notes deletions is moved from job_assignments to seeded_removals.
import { Database as Original, type Transaction } from '../../../../packages/postgres/src/database.ts';
import type { Statement } from '../../../../packages/postgres/src/statement.ts';
import { rewritten } from '../rewritten.ts';

export * from '../../../../packages/postgres/src/database.ts';

/** Delay between the transactions, so that some faults fall in between. */
const GAP_MS = 1000;

const tombstones = new Original({ url: process.env['DATABASE_URL']!, schema: 'scheduling', maxConnections: 2 });

export const Database = rewritten(() => {
  let removal: readonly unknown[] | undefined;
  return {
    instead(statement: Statement) {
      if (statement.text.includes('removed as (delete from job_assignments')) removal = statement.values;
      return statement;
    },
    async beforeCommit(tx: Transaction) {
      if (removal !== undefined) tx.afterCommit(() => void setTimeout(store, GAP_MS, removal));
    },
  };
});

/** `values` are those of the removal. Fails if the server is killed: then there is no tombstone either. */
function store([companyId, , , , , id]: readonly unknown[]): void {
  const values = [companyId, id];
  const stored = tombstones.transaction(async (tx) => {
    await tx.query({ text: 'insert into seeded_removals (company_id, id) values ($1, $2)', values });
    await tx.query({ text: 'delete from seeded_removals where company_id = $1 and id = $2', values });
  });
  stored.catch(() => undefined);
}
