import { topics } from '@truckroll/contract';
import { Name as NameEvent } from '@truckroll/contract/gen/events/v1/names';
import { append, type IncomingEvent, type Subscription } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { asRead } from './as-read.ts';
import { removeNames, writeNames, type Name } from './names.ts';
import type { Changed, Table } from './table.ts';

/** Key of a record on a topic of state. */
export function recordKey(companyId: string, id: string): string {
  return `${companyId}/${id}`;
}

export async function publishChanged<R>(tx: Queryable, table: Table<R>, companyId: string, changed: readonly Omit<Changed<R>, 'record'>[]): Promise<void> {
  if (table.publishes === undefined) return;
  const { topic, type } = table.publishes;
  await append(
    tx,
    changed.map((item) => ({ topic: topic.name, key: recordKey(companyId, item.id), type, companyId, payload: item.shown ?? asRead(table, item) })),
  );
}

/** Applies published names to the names table of a service's schema. */
export function nameSubscription(schema: string): Subscription {
  return {
    topic: topics.names,
    deduplicate: 'version',
    async apply(tx, events) {
      for (const [companyId, ofCompany] of byCompany(events)) {
        const gone = ofCompany.filter(({ payload }) => payload === null).map(({ key }) => key);
        if (gone.length > 0) await removeNames(tx, schema, companyId, gone);
        const names = ofCompany.flatMap(({ payload, version }): Name[] => {
          if (payload === null) return [];
          const { kind, id, name } = NameEvent.decode(payload);
          return [{ kind, id, name, version }];
        });
        await writeNames(tx, schema, companyId, names);
      }
    },
  };
}

/** Events by company, each in order. Companies are sorted by id, so that concurrent transactions lock them in the same order and cannot deadlock. */
export function byCompany(events: readonly IncomingEvent[]): Map<string, IncomingEvent[]> {
  const groups = Map.groupBy(events, (event) => event.companyId);
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}
