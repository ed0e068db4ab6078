// After a restore, scheduling publishes everything again, and reports which of its events and messages differ from what others know.
import { topics } from '@truckroll/contract';
import { Name } from '@truckroll/contract/gen/events/v1/names';
import { append, type OutgoingEvent, type Restored } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { keyedNames, lockCompany, publishAnew, publishRecords, recordStates } from '@truckroll/record-store';
import { tables } from './resources/index.ts';
import { schema } from './schema.ts';

export const restored: Restored = {
  schema: schema.schema,
  states: [...recordStates(tables), { ...keyedNames, removed: 'name.removed' }],
  readModels: [],
  groups: [],
  async renew(tx) {
    await publishAnew(tx);
    await publishNames(tx);
  },
};

/** Has the records of a company that has come from another database published. Not in a transaction. */
export const publishRecordsOf = (db: Queryable, companyId: string): Promise<void> => publishRecords(db, schema.schema, tables, companyId);

const PAGE = 5000;

/** Publishes the names of a company that has come from another database. */
export async function publishNamesOf(tx: Transaction, companyId: string): Promise<void> {
  // Changes of names hold it.
  await lockCompany(tx, companyId);
  await publishNames(tx, companyId);
}

async function publishNames(tx: Queryable, companyId: string | null = null): Promise<void> {
  for (let after: StoredName | undefined; ; ) {
    const { rows } = await tx.query<StoredName>({
      text: `select company_id, kind, id, name from names
        where ($1::uuid is null or (company_id, kind, id) > ($1::uuid, $2::text, $3::uuid)) and ($4::uuid is null or company_id = $4)
        order by company_id, kind, id limit ${PAGE}`,
      values: [after?.company_id ?? null, after?.kind ?? null, after?.id ?? null, companyId],
    });
    after = rows.at(-1);
    if (after === undefined) return;
    const eventOf = (name: StoredName): OutgoingEvent => ({
      topic: topics.names.name,
      key: `${name.company_id}/${name.kind}/${name.id}`,
      type: 'name.changed',
      companyId: name.company_id,
      payload: Name.encode(name).finish(),
    });
    await append(tx, rows.map(eventOf));
  }
}

interface StoredName {
  readonly company_id: string;
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** Number of events of each subject `<company>/<service request or interaction>`; absent subjects had none. */
export async function eventsHad(db: Queryable, keys: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ key: string; event_sequence: number }>({
    text: `select k.key, s.event_sequence from unnest($1::text[]) k(key) join (
        select company_id, id, event_sequence from service_requests union all select company_id, id, event_sequence from interactions
      ) s on s.company_id = split_part(k.key, '/', 1)::uuid and s.id = split_part(k.key, '/', 2)::uuid`,
    values: [keys],
  });
  return new Map(rows.map(({ key, event_sequence }) => [key, event_sequence]));
}

export interface UnknownMessage {
  readonly company_id: string;
  readonly id: string;
  readonly channel: string;
  readonly address: string;
}

/** Gives up messages to customers that were unsent at the restored moment: they may have been sent since, so they are never sent again. */
export async function giveUpMessages(tx: Queryable): Promise<UnknownMessage[]> {
  const { rows } = await tx.query<UnknownMessage>({
    text: `update notifications set status = 'UNKNOWN', finished_at = now(), attempt_ends_at = null,
        detail = 'the database was restored to a moment before the end of this message'
      where status in ('QUEUED', 'ATTEMPTING') returning company_id, id, channel, address`,
  });
  return rows;
}
