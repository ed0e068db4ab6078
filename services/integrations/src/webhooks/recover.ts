// WebhookService.RecoverWebhook: queues skipped and failed deliveries again.
import { checkRecoveryRange, formatInstant, now, refuseBroken } from '@truckroll/contract';
import type { RecoverWebhookRequest, RecoverWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Context } from '../context.ts';
import { callerOf, checked } from '../requests.ts';
import { auditEndpoint } from './audited.ts';
import { lockEndpoint } from './endpoints.ts';
import { MOST_AT_ONCE, RECOVERABLE, WITHIN, queueSome, valuesOf } from './recovery.ts';

/** Queues in order per subject, with a new retry schedule. A large recovery continues in the background; call again for what remains. */
export async function recover({ database, recoveries }: Context, request: RecoverWebhookRequest): Promise<RecoverWebhookResponse> {
  const { company_id } = callerOf(request);
  const { id: endpoint_id, since } = checked('RecoverWebhookRequest', request);
  const at = now();
  refuseBroken(checkRecoveryRange(request, at));
  // Limited to the present, so that the recovery ends.
  const range = { company_id, endpoint_id, since, until: Math.min(request.until ?? at, at) };
  const queued = await database.transaction(
    async (tx) => {
      await lockEndpoint(tx, company_id, endpoint_id);
      const count = await queueSome(tx, range);
      if (count === MOST_AT_ONCE) {
        await tx.query({
          name: 'insert_webhook_recovery',
          text: 'insert into webhook_recoveries (endpoint_id, since, until) values ($1, $2, $3) on conflict do nothing',
          values: [endpoint_id, formatInstant(since), formatInstant(range.until)],
        });
      }
      const of = { since: formatInstant(since), until: formatInstant(range.until), queued: count };
      await auditEndpoint(tx, request, endpoint_id, { action: 'webhook.recovered', of });
      return count;
    },
    { retryContention: true },
  );
  if (queued < MOST_AT_ONCE) return { data: { queued, remaining: 0 } };
  recoveries.look();
  // Counts without the endpoint's lock, because new events of the company wait for it.
  const { rows } = await database.query<{ count: number }>({
    name: 'count_unrecovered_deliveries',
    text: `select count(*) from webhook_deliveries d where ${WITHIN} and ${RECOVERABLE}`,
    values: valuesOf(range),
  });
  return { data: { queued, remaining: rows[0]?.count ?? 0 } };
}
