// Queueing again what was skipped or given up, and single deliveries that a user wants repeated.
import { ApiError, formatInstant, now } from '@truckroll/contract';
import { DeliveryStatus } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { RedeliverWebhookRequest, RedeliverWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type { RecoverWebhookRequest, RecoverWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Context } from '../context.ts';
import { callerOf, checked } from '../requests.ts';
import { dayOf, dayOfDelivery } from './delivery-id.ts';
import { lockEndpoint } from './endpoints.ts';
import { oldestDay } from './partitions.ts';

/** Queued by one call; the answer tells what remains. */
const MOST_AT_ONCE = 10_000;

/** Oldest first, with a fresh schedule, in order per subject as when they were new. */
export async function recover({ database }: Context, request: RecoverWebhookRequest): Promise<RecoverWebhookResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id, since } = checked('RecoverWebhookRequest', request);
  const until = request.until ?? now();
  if (until <= since) {
    throw ApiError.invalid([{ location: 'body', field: 'until', code: 'RANGE_ORDER', message: 'Give a time later than since, or none for all until now.' }]);
  }
  const range = [companyId, id, [dayOf(since), oldestDay()].toSorted()[1], dayOf(until), formatInstant(since), formatInstant(until)];
  const which = `d.company_id = $1 and d.endpoint_id = $2 and d.day between $3 and $4 and d.occurred_at >= $5 and d.occurred_at < $6
    and d.state in ('SKIPPED', 'FAILED') and d.event_type <> 'webhook.test'`;
  return await database.transaction(
    async (tx) => {
      await lockEndpoint(tx, companyId, id);
      const queued = await tx.query({
        name: 'recover_webhook_deliveries',
        text: `with chosen as (
            select d.day, d.id from webhook_deliveries d where ${which} order by d.day, d.id limit ${MOST_AT_ONCE} for update),
          pending as (
            update webhook_deliveries d set state = 'PENDING', changed_at = now() from chosen c where d.day = c.day and d.id = c.id returning d.*)
          insert into webhook_queue (delivery_id, day, endpoint_id, subject, sequence, due_at)
          select id, day, endpoint_id, subject, sequence, now() from pending`,
        values: range,
      });
      const { rows } = await tx.query<{ count: number }>({
        name: 'count_unrecovered_deliveries', text: `select count(*) from webhook_deliveries d where ${which}`, values: range,
      });
      return { data: { queued: queued.rowCount, remaining: rows[0]?.count ?? 0 } };
    },
    { retryContention: true },
  );
}

/** One delivery, whatever became of it; with a fresh schedule. */
export async function redeliver({ database }: Context, request: RedeliverWebhookRequest): Promise<RedeliverWebhookResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id, webhook_id: endpointId } = checked('RedeliverWebhookRequest', request);
  return await database.transaction(
    async (tx) => {
      await lockEndpoint(tx, companyId, endpointId);
      const { rows } = await tx.query<{ event_id: string }>({
        name: 'redeliver_webhook',
        text: `with delivery as (
            update webhook_deliveries set state = 'PENDING', changed_at = now()
            where day = $1 and id = $2 and company_id = $3 and endpoint_id = $4 returning *),
          queued as (
            insert into webhook_queue (delivery_id, day, endpoint_id, subject, sequence, due_at, tried, forced)
            select id, day, endpoint_id, subject, sequence, now(), true, true from delivery
            on conflict (delivery_id) do update set due_at = least(webhook_queue.due_at, now()), failures = 0, forced = true)
          select event_id from delivery`,
        values: [dayOfDelivery(id), id, companyId, endpointId],
      });
      if (rows[0] === undefined) throw ApiError.notFound('delivery');
      return { data: { id, event_id: rows[0].event_id, status: DeliveryStatus.PENDING } };
    },
    { retryContention: true },
  );
}
