// Records and names after PostgreSQL was restored to an earlier time (docs/adr/0007), or after a company came from another database.
import { restartRuns } from '@truckroll/catch-up';
import { topics } from '@truckroll/contract';
import type { Keyed, PublishedState, Topic } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { PUBLISH } from './publication.ts';
import type { Table } from './table.ts';

/** For `Restored.states`: the records that a service publishes, with the events that remove them. */
export function recordStates(tables: readonly Table[]): PublishedState[] {
  return tables.flatMap(({ publishes, table }) =>
    publishes === undefined ? [] : [{ ...keyedById(publishes.topic, table), removed: publishes.type.replace('.changed', '.removed') }],
  );
}

/** A table whose events have the key `<company>/<id>`, as those of records do. */
export function keyedById(topic: Topic, table: string): Keyed {
  return { topic, table, key: { company_id: 'uuid', id: 'uuid' } };
}

/** Names, of their owner and of each service that keeps a read model of them. */
export const keyedNames: Keyed = { topic: topics.names, table: 'names', key: { company_id: 'uuid', kind: 'text', id: 'uuid' } };

/** Makes the service publish all its records again, and publish no watermark until it has. */
export async function publishAnew(tx: Queryable): Promise<void> {
  await restartRuns(tx, PUBLISH);
}

/** Rows noted in one transaction: a long one would hold back the change feeds of other companies. */
const NOTED = 10_000;

/** Notes all records of a company that a service publishes, so that it publishes them again in the background. */
export async function publishRecords(db: Queryable, schema: string, tables: readonly Table[], companyId: string): Promise<void> {
  for (const { path, table, publishes } of tables) {
    if (publishes === undefined) continue;
    for (let after: string | null | undefined = null; after !== undefined; ) {
      const { rows }: { rows: { id: string }[] } = await db.query<{ id: string }>({
        text: `with page as (select id from ${schema}.${table} where company_id = $2 and ($3::uuid is null or id > $3) order by id limit ${NOTED}),
            noted as (insert into ${schema}.unpublished (path, company_id, id) select $1, $2, id from page on conflict do nothing)
          select id from page order by id desc limit 1`,
        values: [path, companyId, after],
      });
      after = rows[0]?.id;
    }
  }
}
