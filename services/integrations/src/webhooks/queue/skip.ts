// Skips queued deliveries: those of a disabled endpoint, and those that have waited too long for a paused one.
//
// Deliveries are updated by their key, (day, id). Their company is compared by `is not distinct from`, for which PostgreSQL uses no index: while
// statistics do not know a company that is new today, it would otherwise read all its deliveries again for each that changes.
import { notFreezing, type Database, type Transaction } from '@truckroll/postgres';

/** The resume_at of endpoints to which nothing is sent yet, as the trigger of 0017_webhook_states.sql sets it. Finds them by index. */
export const HELD = `'2200-01-01 00:00:00+00'::timestamptz`;
/** Time after which a delivery to a paused endpoint is skipped, counted from the pause or, if later, from when the delivery was due. */
const KEPT = `interval '5 days'`;
/** Maximum deliveries skipped in one transaction, because new events of the company wait for it. */
const MOST_AT_ONCE = 2000;

/** Skips deliveries that have waited too long for a paused endpoint, oldest first. False if there are none, or another replica skips them. */
export async function skipOverdue(database: Database): Promise<boolean> {
  return await database.transaction(
    async (tx) => {
      const { rows } = await tx.query<{ id: string; company_id: string }>({
        name: 'next_overdue_pause',
        text: `select e.id, e.company_id from webhook_endpoints e
          where e.resume_at = ${HELD} and e.paused_at < now() - ${KEPT} and e.deleted_at is null and ${notFreezing('e.company_id')} and exists (
            select from webhook_queue q where q.endpoint_id = e.id and q.leased_until is null and q.due_at < now() - ${KEPT} and not q.forced)
          order by e.id limit 1 for no key update of e skip locked`,
      });
      const [endpoint] = rows;
      if (endpoint === undefined) return false;
      await tx.query({
        name: 'skip_overdue_webhook_deliveries',
        text: `with overdue as (
            select q.delivery_id from webhook_queue q
            where q.endpoint_id = $2 and q.leased_until is null and q.due_at < now() - ${KEPT} and not q.forced
            order by q.due_at, q.sequence limit ${MOST_AT_ONCE}),
          gone as (delete from webhook_queue q using overdue o where q.delivery_id = o.delivery_id returning q.day, q.delivery_id)
          update webhook_deliveries d set state = 'SKIPPED', changed_at = now() from gone
          where d.company_id is not distinct from $1 and d.day = gone.day and d.id = gone.delivery_id`,
        values: [endpoint.company_id, endpoint.id],
      });
      return true;
    },
    { retryContention: true },
  );
}

/** Marks queued deliveries SKIPPED, except leased ones, which are left to their reports, and those that a user requested. Ends a resumption. */
export async function skipQueued(tx: Transaction, companyId: string, endpointId: string): Promise<void> {
  await tx.query({
    name: 'skip_webhook_deliveries',
    text: `with gone as (
        delete from webhook_queue where endpoint_id = $2 and not forced and (leased_until is null or leased_until <= now()) returning day, delivery_id)
      update webhook_deliveries d set state = 'SKIPPED', changed_at = now() from gone
      where d.company_id is not distinct from $1 and d.day = gone.day and d.id = gone.delivery_id`,
    values: [companyId, endpointId],
  });
  await tx.query({
    name: 'end_webhook_resumption',
    text: 'delete from webhook_recoveries where endpoint_id = $1',
    values: [endpointId],
  });
}
