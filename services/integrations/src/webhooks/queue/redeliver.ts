import { ApiError } from '@truckroll/contract';
import { DeliveryStatus } from '@truckroll/contract/gen/integrations/v1/deliveries';
import {
  RedeliveryProblem,
  type Redelivery,
  type RedeliverWebhookRequest,
  type RedeliverWebhookResponse,
  type RedeliverWebhooksRequest,
  type RedeliverWebhooksResponse,
} from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type { Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { callerOf, checked } from '../../requests.ts';
import { auditEndpoint } from '../endpoints/audit.ts';
import { dayOfDelivery } from '../log/delivery-id.ts';
import { notifyDue } from './due-notices.ts';
import { lockEndpoint } from '../endpoints/store.ts';

/** Maximum redeliveries of one delivery: each may add ten attempts to the log. */
const MOST_REDELIVERIES = 20;
const NOT_FOUND = 'The endpoint has no such delivery: they are kept for 30 days.';
const LIMIT_REACHED = `This delivery was asked for again ${MOST_REDELIVERIES} times, as often as it may be. Its body is in the log, should you still need it.`;

interface Queued {
  id: string;
  event_id: string;
  /** False if the limit is reached. */
  queued: boolean;
}

/** Sends one delivery again, whatever its state, with a new retry schedule. Throws 404, or 409 at the limit. */
export async function redeliver({ database, secrets }: Context, request: RedeliverWebhookRequest): Promise<RedeliverWebhookResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id, webhook_id: endpointId } = checked('RedeliverWebhookRequest', request);
  return await database.of(companyId).transaction(
    async (tx) => {
      const found = (await queueAgain(tx, companyId, endpointId, [id])).get(id);
      if (found === undefined) throw ApiError.notFound('delivery');
      if (!found.queued) throw new ApiError('LIMIT_REACHED', LIMIT_REACHED);
      await auditEndpoint(tx, secrets, request, endpointId, { action: 'webhook.redelivered', of: { deliveryIds: [id] } });
      return { data: { id, event_id: found.event_id, status: DeliveryStatus.PENDING } };
    },
    { retryContention: true },
  );
}

/** Sends several deliveries again (decisions §11) and answers for each different id, in the order given. Throws 404 if the endpoint does not exist. */
export async function redeliverAll({ database, secrets }: Context, request: RedeliverWebhooksRequest): Promise<RedeliverWebhooksResponse> {
  const { company_id: companyId } = callerOf(request);
  const { delivery_ids, webhook_id: endpointId } = checked('RedeliverWebhooksRequest', request);
  const ids = [...new Set(delivery_ids)];
  const found = await database.of(companyId).transaction(
    async (tx) => {
      const again = await queueAgain(tx, companyId, endpointId, ids);
      const deliveryIds = ids.filter((id) => again.get(id)?.queued === true);
      await auditEndpoint(tx, secrets, request, endpointId, { action: 'webhook.redelivered', of: { deliveryIds } });
      return again;
    },
    { retryContention: true },
  );
  return {
    data: ids.map((id): Redelivery => {
      const queued = found.get(id)?.queued;
      if (queued === true) return { id, queued, problem: null, message: null };
      return queued === false
        ? { id, queued, problem: RedeliveryProblem.LIMIT_REACHED, message: LIMIT_REACHED }
        : { id, queued: false, problem: RedeliveryProblem.NOT_FOUND, message: NOT_FOUND };
    }),
  };
}

/** Queues deliveries again. Returns those that exist, by id. Throws 404 if the endpoint does not exist. */
async function queueAgain(tx: Transaction, companyId: string, endpointId: string, ids: readonly string[]): Promise<Map<string, Queued>> {
  const values = [ids.map(dayOfDelivery), ids, companyId, endpointId];
  const within = 'd.day = g.day and d.id = g.id and d.company_id = $3 and d.endpoint_id = $4';
  // Locks deliveries in the order of their ids and then the endpoint, as reports of attempts do, to avoid deadlocks.
  const { rows } = await tx.query<Queued>({
    name: 'lock_webhooks_to_redeliver',
    text: `select d.id, d.event_id, d.redeliveries < ${MOST_REDELIVERIES} as queued
      from unnest($1::date[], $2::uuid[]) g (day, id) join webhook_deliveries d on ${within} order by d.id for update of d`,
    values,
  });
  await lockEndpoint(tx, companyId, endpointId);
  // Takes away the lease of an attempt in flight: it began before the request, so its failure must not delay the redelivery.
  await tx.query({
    name: 'redeliver_webhooks',
    text: `with delivery as (
        update webhook_deliveries d set state = 'PENDING', changed_at = now(), redeliveries = redeliveries + 1
        from unnest($1::date[], $2::uuid[]) g (day, id) where ${within} and redeliveries < ${MOST_REDELIVERIES} returning d.*)
      insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at, tried, forced)
      select id, day, company_id, endpoint_id, subject, sequence, now(), true, true from delivery order by id
      on conflict (delivery_id) do update set due_at = least(webhook_queue.due_at, now()), failures = 0, forced = true,
        lease_token = null, leased_until = null, worker = null`,
    values,
  });
  notifyDue(tx);
  return new Map(rows.map((row) => [row.id, row]));
}
