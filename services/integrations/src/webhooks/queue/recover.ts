// WebhookService.RecoverWebhook: queues events again that an endpoint missed, or all of a period.
import { checkRecoveryRange, formatInstant, now, refuseBroken } from '@truckroll/contract';
import { RecoveryInclude, type RecoverWebhookRequest, type RecoverWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { callerOf, checked } from '../../requests.ts';
import { auditEndpoint } from '../endpoints/audit.ts';
import { lockEndpoint } from '../endpoints/store.ts';
import { countToReplay, replayWindow, type WebhookReplay } from './replay.ts';

/** Queues in order per subject, with a new retry schedule. A large recovery continues in the background; call again for what remains. */
export async function recover({ database, recoveries }: Context, request: RecoverWebhookRequest): Promise<RecoverWebhookResponse> {
  const { company_id } = callerOf(request);
  const { id: endpoint_id, since, include } = checked('RecoverWebhookRequest', request);
  const at = now();
  refuseBroken(checkRecoveryRange(request, at));
  const delivered = include === RecoveryInclude.ALL;
  // Limited to the present, so that the recovery ends.
  const replay = { company_id, endpoint_id, since, until: Math.min(request.until ?? at, at), delivered };
  const { queued, rest } = await database.transaction(
    async (tx) => {
      await lockEndpoint(tx, company_id, endpoint_id);
      // Repeated to see its progress, it must not send everything once more.
      const unfinished = delivered ? await unfinishedReplay(tx, company_id, endpoint_id) : undefined;
      if (unfinished !== undefined) return { queued: 0, rest: unfinished };
      const { queued, next } = await replayWindow(tx, replay);
      const rest = next === null ? undefined : { ...replay, since: next };
      if (rest !== undefined) await insertReplay(tx, rest);
      const of = { since: formatInstant(since), until: formatInstant(replay.until), include: delivered ? 'ALL' : 'MISSED', queued };
      await auditEndpoint(tx, request, endpoint_id, { action: 'webhook.recovered', of });
      return { queued, rest };
    },
    { retryContention: true },
  );
  if (rest === undefined) return { data: { queued, remaining: 0 } };
  recoveries.look();
  // Counts without the endpoint's lock, because new events of the company wait for it.
  return { data: { queued, remaining: Math.max(1, await countToReplay(database, rest)) } };
}

async function insertReplay(tx: Transaction, { endpoint_id, since, until, delivered }: WebhookReplay): Promise<void> {
  await tx.query({
    name: 'insert_webhook_replay',
    text: 'insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, $2, $3, $4)',
    values: [endpoint_id, formatInstant(since), formatInstant(until), delivered],
  });
}

/** The rest of a recovery of all events that is still going on. */
async function unfinishedReplay(tx: Transaction, companyId: string, endpointId: string): Promise<WebhookReplay | undefined> {
  const { rows } = await tx.query<WebhookReplay>({
    name: 'unfinished_webhook_replay',
    text: `select e.company_id, r.endpoint_id, r.since, r.until, r.delivered from webhook_replays r join webhook_endpoints e on e.id = r.endpoint_id
      where e.company_id = $1 and r.endpoint_id = $2 and r.delivered order by r.id limit 1`,
    values: [companyId, endpointId],
  });
  return rows[0];
}
