// Records and names after PostgreSQL was restored to an earlier time (docs/adr/0007).
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
