// Logs the records that were stored before their kind was in the feed. Until a company is complete, its feed answers 503.
import type { TaskBatch, Cursor, Task } from '@truckroll/catch-up';
import type { Transaction } from '@truckroll/postgres';
import type { OwnedKind } from './kinds.ts';

const BATCH = 1000;

export function backfill(kinds: readonly OwnedKind[]): Task {
  const byName = new Map(kinds.map((each) => [each.kind, each]));
  return {
    name: 'feed',
    subjects: [...byName.keys()],
    next: (tx, kind, after) => logNext(tx, byName.get(kind) as OwnedKind, after),
    preparing: (subjects) => `The feed of ${subjects.join(', ')}`,
  };
}

async function logNext(tx: Transaction, { kind, table, codes }: OwnedKind, after: Cursor): Promise<TaskBatch> {
  const key = codes === true ? 'md5(id)::uuid' : 'id';
  const { rows } = await tx.query<{ company_id: string; id: string; count: number }>({
    text: `with batch as (
        select company_id, ${key} as id, change_version from ${table} where (company_id, ${key}) > ($2, $3) order by company_id, ${key} limit ${BATCH}),
      noted as (
        insert into record_changes (company_id, kind, id, version, changed_at)
        select company_id, $1, id, (select change_version()), now() from batch where change_version is null)
      select company_id, id, count(*) over () as count from batch order by company_id desc, id desc limit 1`,
    values: [kind, after.companyId, after.id],
  });
  const [last] = rows;
  if (last === undefined) return { count: 0, reached: undefined };
  return { count: last.count, reached: last.count < BATCH ? undefined : { companyId: last.company_id, id: last.id } };
}
