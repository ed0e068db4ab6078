// A company leaves (docs/adr/0024): integrations ends its access, adds the one entry of the audit trail that stays, and publishes the entry to
// a topic that keeps it, from which a restored database learns that it must delete the company again.
import { ApiError, refused } from '@truckroll/contract';
import type { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { DeleteCompanyRequest, DeleteCompanyResponse } from '@truckroll/contract/gen/integrations/v1/admin';
import type { TableRule } from '@truckroll/erasure';
import { COMPANY_DELETED, NO_COMPANY, PERSON_ERASED, append, auditEntry, isDeleted, markErased } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { insertAuditEntries } from '../audit/store.ts';
import { refuseElsewhere } from './places.ts';
import type { Context } from '../context.ts';
import { forgetCompany } from '../identity/pending.ts';
import { ERASED_USER } from '../people.ts';
import { checked } from '../requests.ts';
import { erasureOf } from './erasures.ts';
import { refuseFreezing, refuseMoving } from './freeze.ts';
import { lockCompany } from './store.ts';

const OF_ENDPOINTS = 'endpoint_id in (select id from webhook_endpoints where company_id = $1::uuid)';
/** By company and by user, with an index each: users may have moved here with keys of another company, which are invalid until they move back. */
const OF_USERS = ['company_id = $1::uuid', 'user_id in (select id from users where company_id = $1::uuid)'];

export const rules: readonly TableRule[] = [
  ...['webhook_rates', 'webhook_recoveries', 'webhook_replays'].map((table) => ({ table, where: OF_ENDPOINTS })),
  ...OF_USERS.map((where) => ({ table: 'mails', where })),
  {
    table: 'webhook_deliveries',
    where: 'company_id = $1::uuid',
    with: {
      key: 'day, id, event_id',
      rows: {
        webhook_attempts: 'o.day = g.day and o.delivery_id = g.id',
        webhook_queue: 'o.delivery_id = g.id',
        // Those of tests are not in the log of events.
        webhook_events: 'o.day = g.day and o.id = g.event_id',
      },
    },
  },
  { table: 'webhook_event_log', where: 'company_id = $1::uuid', with: { key: 'day, id', rows: { webhook_events: 'o.day = g.day and o.id = g.id' } } },
  { table: 'audit_events', where: `company_id = $1::uuid and action <> '${COMPANY_DELETED}'` },
  // Operators' calls that name the company as their object.
  {
    table: 'audit_events',
    where: `company_id = '${NO_COMPANY}' and action <> '${COMPANY_DELETED}' and position($1::text in concat_ws(' ', object_id, before, after)) > 0`,
  },
  ...['api_keys', 'views'].flatMap((table) => OF_USERS.map((where) => ({ table, where, last: true as const }))),
  { table: 'webhook_endpoints', where: 'company_id = $1::uuid', last: true },
  { table: 'users', where: 'company_id = $1::uuid', last: true },
  { table: 'companies', where: 'id = $1::uuid', last: true },
  // Until then, this cell would serve what is left of a company that lives elsewhere.
  { table: 'company_places', where: 'company_id = $1::uuid', last: true },
];

/** Invalidations name the company until they are published. */
export const waitsFor = `case when exists (select from pending_invalidations where subject = 'company:' || $1::text) then 'messages to Redis' end`;

/** Changes nothing for a company whose deletion has begun. Errors: 404 for an unknown company, 400 for a wrong name. */
export async function deleteCompany({ database, invalidations, outbox }: Context, request: DeleteCompanyRequest): Promise<DeleteCompanyResponse> {
  const { id, name } = checked('DeleteCompanyRequest', request);
  try {
    await invalidations.commit(async (tx) => {
      const company = await lockCompany(tx, id);
      if (await isDeleted(tx, id)) return { answer: undefined, pending: [] };
      if (company === undefined) throw new ApiError('NOT_FOUND', 'There is no company with this id: see the ids with `truckroll company list`.');
      if (company.name !== name) throw refused('name', `The company is called ${JSON.stringify(company.name)}: give exactly this name.`);
      await refuseFreezing(tx, company.id);
      await refuseMoving(tx, company.id);
      await refuseElsewhere(tx, company.id);
      const entry = auditEntry({ companyId: company.id, action: COMPANY_DELETED, object: { kind: 'company', id: company.id } });
      await outbox.append(tx, [erasureOf(entry)]);
      await closeCompany(tx, entry);
      return { answer: undefined, pending: await forgetCompany(tx, company.id) };
    });
  } catch (error) {
    // If Redis is away, the invalidation is published later, and the removal waits for that.
    if (!(await isDeleted(database, id))) throw error;
  }
  return {};
}

/** Ends the company's access, also for earlier releases, and its webhooks, and has everything removed. The entry stays in the trail. */
async function closeCompany(tx: Queryable, entry: AuditEntry): Promise<void> {
  const { company_id: companyId } = entry;
  await insertAuditEntries(tx, [entry]);
  await markErased(tx, companyId);
  for (const text of [
    'update users set active = false where company_id = $1',
    'update api_keys set revoked_at = coalesce(revoked_at, now()) where company_id = $1',
    'update webhook_endpoints set enabled = false, deleted_at = coalesce(deleted_at, now()) where company_id = $1',
  ]) {
    await tx.query({ text, values: [companyId] });
  }
}

/** Users of the company who made endpoints of another one before they moved: those keep an inactive user without a name. */
export async function leaveMakersBehind(tx: Queryable, companyId: string): Promise<void> {
  await tx.query({
    name: 'leave_makers_of_endpoints',
    text: `update users u set company_id = e.company_id, ${ERASED_USER},
        active = false, updated_at = now()
      from (select distinct on (created_by) created_by, company_id from webhook_endpoints where company_id <> $1 order by created_by, created_at) e
      where u.company_id = $1 and u.id = e.created_by`,
    values: [companyId],
  });
}

/**
 * After a restore: has the companies deleted again that the topic names, keeps its entries of erased people, and publishes the entries that the
 * topic has lost, because Kafka lost its topics.
 */
export async function leaveAgain(tx: Queryable, published: readonly AuditEntry[]): Promise<void> {
  const known = new Set(published.map(({ id }) => id));
  await append(
    tx,
    (await erasuresIn(tx)).filter(({ id }) => !known.has(id)).map((entry) => erasureOf(entry)),
  );
  for (const entry of published) await (entry.action === COMPANY_DELETED ? closeCompany(tx, entry) : insertAuditEntries(tx, [entry]));
}

/** Publishes the erasures of people of a company that has come from another database, whose services may not have learnt all of them. */
export async function publishErasuresOf(tx: Transaction, companyId: string): Promise<void> {
  // Erasures of people hold it.
  await lockCompany(tx, companyId);
  await append(
    tx,
    (await erasuresIn(tx, companyId)).map((entry) => erasureOf(entry)),
  );
}

/** The deleted companies and erased people of the last 365 days, which the audit trail keeps; of one company, or of all. */
export async function erasuresIn(db: Queryable, companyId: string | null = null): Promise<AuditEntry[]> {
  const { rows } = await db.query<AuditEntry>({
    text: `select id, at, company_id, 'AUDIT_ACTOR_KIND_' || actor_kind as actor_kind, actor_id, action, object_kind, object_id, before, after, request_id, address
      from audit_events where action in ('${COMPANY_DELETED}', '${PERSON_ERASED}') and ($1::uuid is null or company_id = $1) order by at, id`,
    values: [companyId],
  });
  return rows;
}
