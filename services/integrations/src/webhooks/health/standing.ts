import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Queryable } from '@truckroll/postgres';
import type { DisabledReason } from '../queue/rules.ts';

const MINUTE = 60_000_000;
const OVERDUE_AFTER = 5 * MINUTE;
/** Minimum share of successful attempts in the last hour for a healthy endpoint. */
const DEGRADED_BELOW = 0.95;

/** Data about an endpoint that its state follows from. Times are in microseconds since 1970. */
export interface EndpointStanding {
  id: string;
  company_id: string;
  enabled: boolean;
  paused: boolean;
  disabled_reason: DisabledReason | null;
  failing_since: number | null;
  slowdowns: number;
  circuit_open_until: number | null;
  /** Attempts of the last hour. */
  delivered: number;
  failed: number;
  /** Whether there was an attempt within 24 hours. */
  active: boolean;
  /** Due time of the first waiting delivery, past or future; null if none waits. */
  due_at: number | null;
}

/** The first state that applies, in the order of the contract. */
export function stateOf(standing: EndpointStanding, at: number): WebhookHealthState {
  const { enabled, paused, failing_since: failingSince, circuit_open_until: circuit, slowdowns, delivered, failed, active, due_at: dueAt } = standing;
  if (!enabled) return WebhookHealthState.DISABLED;
  if (paused) return WebhookHealthState.PAUSED;
  const fails = failingSince !== null;
  if (circuit !== null || (fails && delivered <= failed)) return WebhookHealthState.FAILING;
  const overdue = dueAt !== null && dueAt < at - OVERDUE_AFTER;
  if (fails || slowdowns > 0 || overdue || delivered < (delivered + failed) * DEGRADED_BELOW) return WebhookHealthState.DEGRADED;
  return active ? WebhookHealthState.HEALTHY : WebhookHealthState.IDLE;
}

/** Null selects all companies or all endpoints. */
export async function selectStandings(db: Queryable, companyId: string | null, id: string | null = null): Promise<EndpointStanding[]> {
  const { rows } = await db.query<EndpointStanding>({
    name: 'select_webhook_standings',
    text: `select e.id, e.company_id, e.enabled, e.paused_at is not null as paused, e.disabled_reason, e.failing_since, e.slowdowns, e.circuit_open_until,
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
