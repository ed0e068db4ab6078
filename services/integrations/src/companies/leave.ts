// A company leaves (docs/adr/0024): integrations ends its access, adds the one entry of the audit trail that stays, and publishes the entry to
// a topic that keeps it, from which a restored database learns that it must delete the company again.
import { ApiError, refused } from '@truckroll/contract';
import type { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { EraseCompanyRequest } from '@truckroll/contract/gen/records/v1/erasures';
import type { TableRule } from '@truckroll/erasure';
import { NO_COMPANY, append, auditEntry, markErased } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { insertAuditEntries } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { forgetCompany } from '../identity/pending.ts';
import { COMPANY_DELETED, PERSON_ERASED, erasureOf } from './erasures.ts';
import { lockCompany } from './store.ts';

const OF_ENDPOINTS = 'endpoint_id in (select id from webhook_endpoints where company_id = $1::uuid)';
/** Users may have moved here with keys of another company, which are invalid until they move back. */
const OF_USERS = 'company_id = $1::uuid or user_id in (select id from users where company_id = $1::uuid)';

export const rules: readonly TableRule[] = [
  ...['webhook_queue', 'webhook_rates', 'webhook_recoveries', 'webhook_replays'].map((table) => ({ table, where: OF_ENDPOINTS })),
  { table: 'mails', where: OF_USERS },
  {
    table: 'webhook_deliveries',
    where: 'company_id = $1::uuid',
    with: { table: 'webhook_attempts', on: 'o.day = g.day and o.delivery_id = g.id', key: 'day, id' },
  },
  { table: 'audit_events', where: `company_id = $1::uuid and action <> '${COMPANY_DELETED}'` },
  // Operators' calls that name the company as their object.
  {
    table: 'audit_events',
    where: `company_id = '${NO_COMPANY}' and action <> '${COMPANY_DELETED}' and position($1::text in concat_ws(' ', object_id, before, after)) > 0`,
  },
  { table: 'api_keys', where: OF_USERS, last: true },
  { table: 'views', where: OF_USERS, last: true },
  { table: 'webhook_endpoints', where: 'company_id = $1::uuid', last: true },
  { table: 'users', where: 'company_id = $1::uuid', last: true },
  { table: 'companies', where: 'id = $1::uuid', last: true },
];

/** Invalidations name the company until they are published. */
export const waitsFor = [`select from pending_invalidations where subject = 'company:' || $1::text`];

/** Errors: 404 for an unknown company, 400 for a wrong name. */
export function beginLeaving({ invalidations, outbox }: Pick<Context, 'invalidations' | 'outbox'>): (request: EraseCompanyRequest) => Promise<void> {
  return async ({ company_id: companyId, name }) => {
    await invalidations.commit(async (tx) => {
      const company = await lockCompany(tx, companyId);
      if (company === undefined) throw new ApiError('NOT_FOUND', 'There is no company with this id: see the ids with `truckroll company list`.');
      if (company.name !== name) throw refused('name', `The company is called ${JSON.stringify(company.name)}: give exactly this name.`);
      const entry = auditEntry({ companyId, action: COMPANY_DELETED, object: { kind: 'company', id: companyId } });
      await outbox.append(tx, [erasureOf(entry)]);
      await closeCompany(tx, entry);
      return { answer: undefined, pending: await forgetCompany(tx, companyId) };
    });
  };
}

/** Ends the company's access and webhooks, and has everything removed. The entry stays in the trail. */
async function closeCompany(tx: Queryable, entry: AuditEntry): Promise<void> {
  const { company_id: companyId } = entry;
  await insertAuditEntries(tx, [entry]);
  await markErased(tx, companyId);
  await tx.query({
    text: 'update webhook_endpoints set enabled = false, deleted_at = coalesce(deleted_at, now()) where company_id = $1',
    values: [companyId],
  });
}

/** Users of the company who made endpoints of another one before they moved: those keep an inactive user without a name. */
export async function leaveMakersBehind(tx: Queryable, companyId: string): Promise<void> {
  await tx.query({
    name: 'leave_makers_of_endpoints',
    text: `update users u set company_id = e.company_id, subject = 'erased ' || u.id, email = 'erased ' || u.id, first_name = 'Erased', last_name = 'person',
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
  const { rows } = await tx.query<AuditEntry>({
    text: `select id, at, company_id, 'AUDIT_ACTOR_KIND_' || actor_kind as actor_kind, actor_id, action, object_kind, object_id, before, after, request_id, address
      from audit_events where action in ('${COMPANY_DELETED}', '${PERSON_ERASED}') order by at, id`,
  });
  await append(
    tx,
    rows.filter(({ id }) => !known.has(id)).map((entry) => erasureOf(entry)),
  );
  for (const entry of published) await (entry.action === COMPANY_DELETED ? closeCompany(tx, entry) : insertAuditEntries(tx, [entry]));
}
