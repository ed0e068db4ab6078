// After a restore: publishes companies again, makes gateways forget cached callers, and lists webhooks and e-mails that may be sent twice.
import { topics } from '@truckroll/contract';
import { append, type Restored } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { auditRole } from './audit/store.ts';
import { auditSubscriptions } from './audit/subscriptions.ts';
import { companyChanged } from './companies/admin.ts';
export { erasuresIn, leaveAgain, publishErasuresOf } from './companies/leave.ts';
import { selectCompanies } from './companies/store.ts';
import { CHANNEL as INVALIDATIONS } from './identity/invalidations.ts';
import { forgetCompany } from './identity/pending.ts';
import { schema } from './schema.ts';
import { dayOf, deliveryId } from './webhooks/log/delivery-id.ts';
export { makeDays, oldestDay } from './webhooks/log/partitions.ts';

export const restored: Restored = {
  schema: schema.schema,
  states: [{ topic: topics.companies, table: 'companies', key: { id: 'uuid' }, removed: 'company.removed' }],
  readModels: [],
  groups: [
    // The webhook dispatcher has no database: the events it reads are stored here as deliveries.
    { group: 'webhook-dispatcher', topics: [topics.serviceRequests] },
    // Read again from the beginning: entries that the restore lost come back, and known ones are recognised by their key.
    { group: schema.schema, topics: auditSubscriptions.map(({ topic }) => topic), again: true },
  ],
  async renew(tx) {
    await append(tx, (await selectCompanies(tx)).map(companyChanged));
    await auditRole(tx, { action: 'installation.restored', object: { kind: 'installation', id: schema.schema } });
    // Published at the next start. It makes gateways ignore cached keys in Redis that no longer exist.
    await tx.query({ text: `insert into pending_invalidations (subject) values ('restored')` });
  },
};

/** Gateways forget what they know of the company, its users and keys. */
export async function forgetCallersOf(tx: Transaction, companyId: string): Promise<void> {
  await forgetCompany(tx, companyId);
  tx.notify(INVALIDATIONS);
}

export interface PublishedEvent {
  readonly id: string;
  readonly type: string;
  readonly companyId: string;
  readonly subject: string;
  readonly sequence: number;
  /** Time of the event, in microseconds since 1970. */
  readonly timestamp: number;
}

/** Ids of the events that are stored, and so have become the deliveries that they should. */
export async function fannedOut(db: Queryable, events: readonly PublishedEvent[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    text: 'select e.id from unnest($1::date[], $2::uuid[]) g(day, id) join webhook_events e on e.day = g.day and e.id = g.id',
    values: [events.map(({ timestamp }) => dayOf(timestamp)), events.map(({ id }) => id)],
  });
  return new Set(rows.map(({ id }) => id));
}

export interface Delivery {
  readonly company_id: string;
  readonly endpoint_id: string;
  readonly url: string;
  /** Sent to the receiver as webhook-id. */
  readonly event_id: string;
  readonly event_type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly delivery_id: string;
}

/** Queued deliveries and those that the events will become. Any of them may have been sent before the restore. */
export async function maySendTwice(db: Queryable, events: readonly PublishedEvent[]): Promise<Delivery[]> {
  const { rows: waiting } = await db.query<Delivery>({
    text: `select d.company_id, d.endpoint_id, e.url, d.event_id, d.event_type, d.subject, d.sequence, d.id as delivery_id
      from webhook_queue q join webhook_deliveries d on d.day = q.day and d.id = q.delivery_id
      join webhook_endpoints e on e.company_id = d.company_id and e.id = d.endpoint_id
      order by d.company_id, d.endpoint_id, d.id`,
  });
  const { rows: endpoints } = await db.query<{ id: string; company_id: string; url: string; event_types: string[] }>({
    text: 'select id, company_id, url, event_types from webhook_endpoints where deleted_at is null and enabled order by company_id, id',
  });
  const known = new Set(waiting.map(({ delivery_id }) => delivery_id));
  const coming = events.flatMap(({ id, type, companyId, subject, sequence, timestamp }) =>
    endpoints
      .filter(({ company_id, event_types }) => company_id === companyId && event_types.includes(type))
      .map(
        (endpoint): Delivery => ({
          company_id: companyId,
          endpoint_id: endpoint.id,
          url: endpoint.url,
          event_id: id,
          event_type: type,
          subject,
          sequence,
          delivery_id: deliveryId(timestamp, id, endpoint.id),
        }),
      ),
  );
  return [...waiting, ...coming.filter(({ delivery_id }) => !known.has(delivery_id))];
}

export interface UnknownMail {
  readonly company_id: string;
  readonly message_id: string;
  readonly user_id: string;
}

/** Gives up the e-mails that were unsent at the restored moment, because they may have been sent since. */
export async function giveUpMails(tx: Queryable): Promise<UnknownMail[]> {
  const { rows } = await tx.query<UnknownMail>({
    text: `update mails set status = 'UNKNOWN', finished_at = now(), attempt_ends_at = null,
        detail = 'the database was restored to a moment before the end of this e-mail'
      where status in ('QUEUED', 'ATTEMPTING') returning company_id, message_id, user_id`,
  });
  return rows;
}
