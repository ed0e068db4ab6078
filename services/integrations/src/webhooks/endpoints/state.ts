// States of an endpoint (decisions §15). In the database, a paused endpoint is `enabled`, has `paused_at`, and its `resume_at` lies far ahead.
import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Database } from '@truckroll/postgres';

export type EndpointState = 'ENABLED' | 'PAUSED' | 'DISABLED';

export interface StoredState {
  enabled: boolean;
  paused: boolean;
}

export function endpointState({ enabled, paused }: StoredState): EndpointState {
  return enabled ? (paused ? 'PAUSED' : 'ENABLED') : 'DISABLED';
}

interface Wanted {
  enabled?: boolean | null | undefined;
  state?: WebhookState | null | undefined;
}

/** The state that a request asks for; null if it leaves the present one. `enabled: false` leaves a paused endpoint paused. */
export function wantedState({ enabled, state }: Wanted, present?: EndpointState): EndpointState | null {
  if (state != null) return NAMES.get(state) ?? null;
  if (enabled == null || (!enabled && present === 'PAUSED')) return null;
  return enabled ? 'ENABLED' : 'DISABLED';
}

const NAMES = new Map<WebhookState, EndpointState>([
  [WebhookState.ENABLED, 'ENABLED'],
  [WebhookState.PAUSED, 'PAUSED'],
  [WebhookState.DISABLED, 'DISABLED'],
]);

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
          where e.resume_at = ${HELD} and e.paused_at < now() - ${KEPT} and e.deleted_at is null and exists (
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
          where d.company_id = $1 and d.day = gone.day and d.id = gone.delivery_id`,
        values: [endpoint.company_id, endpoint.id],
      });
      return true;
    },
    { retryContention: true },
  );
}
