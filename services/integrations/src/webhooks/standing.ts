// What an endpoint's health comes to, and what that follows from.
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Queryable } from '@truckroll/service-kit';
import type { DisabledReason } from './rules.ts';

const MINUTE = 60_000_000;
const OVERDUE_AFTER = 5 * MINUTE;
/** Share of the last hour's attempts. */
const DEGRADED_BELOW = 0.95;

/** As much of an endpoint as is read of all of them. Times are microseconds. */
export interface Standing {
  id: string;
  company_id: string;
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  failing_since: number | null;
  slowdowns: number;
  circuit_open_until: number | null;
  /** Attempts of the last hour. */
  delivered: number;
  failed: number;
  /** Whether anything was attempted within 24 hours. */
  active: boolean;
  /** When the first of what waits was, or will be, due; null where nothing waits. */
  due_at: number | null;
}

/** The first that applies, as the contract lists them. */
export function stateOf(standing: Standing, at: number): WebhookHealthState {
  const { enabled, failing_since: failingSince, circuit_open_until: circuit, slowdowns, delivered, failed, active, due_at: dueAt } = standing;
  if (!enabled) return WebhookHealthState.DISABLED;
  const fails = failingSince !== null;
  if (circuit !== null || (fails && delivered <= failed)) return WebhookHealthState.FAILING;
  const overdue = dueAt !== null && dueAt < at - OVERDUE_AFTER;
  if (fails || slowdowns > 0 || overdue || delivered < (delivered + failed) * DEGRADED_BELOW) return WebhookHealthState.DEGRADED;
  return active ? WebhookHealthState.HEALTHY : WebhookHealthState.IDLE;
}

/** Of a company, or of all; of one endpoint, or of all. */
export async function selectStandings(db: Queryable, companyId: string | null, id: string | null = null): Promise<Standing[]> {
  const { rows } = await db.query<Standing>({
    name: 'select_webhook_standings',
    text: `select e.id, e.company_id, e.enabled, e.disabled_reason, e.failing_since, e.slowdowns, e.circuit_open_until,
        coalesce(h.delivered, 0)::bigint as delivered, coalesce(h.failed, 0)::bigint as failed, q.due_at,
        exists (select from webhook_counts c where c.company_id = e.company_id and c.endpoint_id = e.id and c.at > now() - interval '24 hours') as active
      from webhook_endpoints e
      cross join lateral (
        select sum(c.delivered) as delivered, sum(c.failed) as failed from webhook_counts c
        where c.company_id = e.company_id and c.endpoint_id = e.id and c.at > now() - interval '1 hour') h
      left join lateral (
        select due_at from webhook_queue where endpoint_id = e.id and leased_until is null order by due_at limit 1) q on true
      where ($1::uuid is null or e.company_id = $1) and ($2::uuid is null or e.id = $2) and e.deleted_at is null`,
    values: [companyId, id],
  });
  return rows;
}
