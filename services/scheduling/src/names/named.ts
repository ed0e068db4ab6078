import { topics } from '@truckroll/contract';
import { Name as NameEvent } from '@truckroll/contract/gen/events/v1/names';
import { append } from '@truckroll/outbox';
import { writeNames, type AfterChange } from '@truckroll/record-store';

const SCHEMA = 'scheduling';

/** For records that others show by name: stores the name, and publishes it if it is new or changed. */
export function named(kind: string): AfterChange<{ name: string }> {
  return async (tx, companyId, changed) => {
    const names = changed.map(({ id, record: { name } }) => ({ kind, id, name, version: 0 }));
    const published = await writeNames(tx, SCHEMA, companyId, names);
    await append(
      tx,
      published.map(({ id, name }) => ({
        topic: topics.names.name,
        key: `${companyId}/${kind}/${id}`,
        type: 'name.changed',
        companyId,
        payload: NameEvent.encode({ company_id: companyId, kind, id, name }).finish(),
      })),
    );
  };
}
