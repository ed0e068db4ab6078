// Queues events again: WebhookService.RecoverWebhook, what was skipped before an endpoint was resumed, and the background work of both.
import type { Task } from '@truckroll/catch-up';
import { checkRecoveryRange, formatInstant, now, refuseBroken } from '@truckroll/contract';
import { RecoveryInclude, type RecoverWebhookRequest, type RecoverWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { notFreezing, type Database, type Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { callerOf, checked } from '../../requests.ts';
import { auditEndpoint } from '../endpoints/audit.ts';
import { lockEndpoint } from '../endpoints/store.ts';
import { notifyDue } from './due-notices.ts';
import { MOST_AT_ONCE, NOT_A_TEST, anyOf, countToReplay, replaySome, replayWindow, valuesOf, type WebhookReplay } from './replay.ts';
import { HELD, skipOverdue } from './skip.ts';

/** Queues in order per subject, with a new retry schedule. A large recovery continues in the background; call again for what remains. */
export async function recover({ database, recoveries, secrets }: Context, request: RecoverWebhookRequest): Promise<RecoverWebhookResponse> {
  const { company_id } = callerOf(request);
  const { id: endpoint_id, since, include } = checked('RecoverWebhookRequest', request);
  const at = now();
  refuseBroken(checkRecoveryRange(request, at));
  const delivered = include === RecoveryInclude.ALL;
  // Limited to the present, so that the recovery ends.
  const replay = { company_id, endpoint_id, since, until: Math.min(request.until ?? at, at), delivered };
  const own = database.of(company_id);
  const { queued, rest } = await own.transaction(
    async (tx) => {
      await lockEndpoint(tx, company_id, endpoint_id);
      // Repeated to see its progress, it must not send everything once more.
      const unfinished = delivered ? await unfinishedReplay(tx, company_id, endpoint_id) : undefined;
      if (unfinished !== undefined) return { queued: 0, rest: unfinished };
      const { queued, next } = await replayWindow(tx, replay);
      const rest = next === null ? undefined : { ...replay, since: next };
      if (rest !== undefined) await insertReplay(tx, rest);
      const of = { since: formatInstant(since), until: formatInstant(replay.until), include: delivered ? 'ALL' : 'MISSED', queued };
      await auditEndpoint(tx, secrets, request, endpoint_id, { action: 'webhook.recovered', of });
      return { queued, rest };
    },
    { retryContention: true },
  );
  if (rest === undefined) return { data: { queued, remaining: 0 } };
  recoveries.look();
  // Counts without the endpoint's lock, because new events of the company wait for it.
  return { data: { queued, remaining: Math.max(1, await countToReplay(own, rest)) } };
}

async function insertReplay(tx: Transaction, { company_id, endpoint_id, since, until, delivered }: WebhookReplay): Promise<void> {
  await tx.query({
    name: 'insert_webhook_replay',
    text: 'insert into webhook_replays (company_id, endpoint_id, since, until, delivered) values ($1, $2, $3, $4, $5)',
    values: [company_id, endpoint_id, formatInstant(since), formatInstant(until), delivered],
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

/** What was skipped since a time, of the events from `since` to before `until`. Times in microseconds since 1970. */
interface Resumption extends Omit<WebhookReplay, 'delivered'> {
  skipped_since: number;
}

/** A recovery of all that was missed, as release 1.1.0 and earlier ones stored it. It is a replay now. */
interface Older extends Omit<Resumption, 'skipped_since'> {
  skipped_since: null;
}

/** Queues the next deliveries of any unfinished resumption. False if there is none, or other replicas are working on all of them. */
export async function recoverSome(database: Database): Promise<boolean> {
  if (!(await anyOf(database, 'webhook_recoveries'))) return false;
  return await database.transaction(async (tx) => {
    // Skips locked rows: a change of the endpoint locks it before its recoveries, so waiting could deadlock.
    const { rows } = await tx.query<Resumption | Older>({
      name: 'next_webhook_recovery',
      text: `select e.company_id, r.endpoint_id, r.since, r.until, r.skipped_since from webhook_recoveries r join webhook_endpoints e on e.id = r.endpoint_id
        where ${notFreezing('e.company_id')} order by r.endpoint_id limit 1 for update of r skip locked for share of e skip locked`,
    });
    const [resumption] = rows;
    if (resumption === undefined) return false;
    const older = resumption.skipped_since === null;
    if (older) await insertReplay(tx, { ...resumption, delivered: false });
    if (older || (await queueSome(tx, resumption)) < MOST_AT_ONCE) {
      await tx.query({
        name: 'end_webhook_recovery',
        text: 'delete from webhook_recoveries where endpoint_id = $1 and since = $2 and until = $3',
        values: [resumption.endpoint_id, formatInstant(resumption.since), formatInstant(resumption.until)],
      });
    }
    return true;
  });
}

/** Margin in microseconds for deliveries whose attempts ended, or whose transactions began, before the endpoint was stopped. */
const STOPPING = 60_000_000;
/** Microseconds by which the clock of an event's publisher may be ahead. Nothing is skipped while this goes on, so that it ends. */
const AHEAD = 86_400_000_000;

/**
 * Queues what was skipped since the endpoint was stopped. If that is too much for one transaction, nothing is sent until all is queued,
 * so that new events do not overtake it. Requires the endpoint's lock.
 */
export async function queueSkipped(tx: Transaction, companyId: string, endpointId: string, stoppedAt: number): Promise<void> {
  const skipped_since = stoppedAt - STOPPING;
  const resumption = { company_id: companyId, endpoint_id: endpointId, since: 0, until: now() + AHEAD, skipped_since };
  if ((await queueSome(tx, resumption)) < MOST_AT_ONCE) return;
  await tx.query({
    name: 'insert_webhook_resumption',
    text: `insert into webhook_recoveries (company_id, endpoint_id, since, until, skipped_since) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    values: [companyId, endpointId, formatInstant(resumption.since), formatInstant(resumption.until), formatInstant(skipped_since)],
  });
  await tx.query({
    name: 'hold_resuming_webhook',
    text: 'update webhook_endpoints set resuming = true where company_id = $1 and id = $2',
    values: [companyId, endpointId],
  });
}

/** Lets resumed endpoints send whose skipped deliveries are all queued, by whichever release. */
export async function sendResumed(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>({
      name: 'send_resumed_webhooks',
      text: `update webhook_endpoints e set resuming = false, resume_at = null
        where e.resume_at = ${HELD} and e.resuming and ${notFreezing('e.company_id')} and not exists (select from webhook_recoveries r where r.endpoint_id = e.id) returning e.id`,
    });
    for (const { id } of rows) notifyDue(tx, id);
  });
}

/** Queues the next skipped deliveries and returns their number; MOST_AT_ONCE means that there may be more. Requires the endpoint's lock. */
async function queueSome(tx: Transaction, resumption: Resumption): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'recover_webhook_deliveries',
    text: `with chosen as (
        select d.day, d.id from webhook_deliveries d where d.company_id = $1 and d.endpoint_id = $2 and d.day between $3 and $4
          and d.occurred_at >= $5 and d.occurred_at < $6 and d.state = 'SKIPPED' and d.changed_at >= $7 and ${NOT_A_TEST}
        order by d.day, d.id limit ${MOST_AT_ONCE} for update),
      pending as (
        update webhook_deliveries d set state = 'PENDING', changed_at = now() from chosen c
        where d.company_id is not distinct from $1 and d.day = c.day and d.id = c.id returning d.*)
      insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at)
      select id, day, company_id, endpoint_id, subject, sequence, now() from pending`,
    values: [...valuesOf(resumption), formatInstant(resumption.skipped_since)],
  });
  if (rowCount > 0) notifyDue(tx);
  return rowCount;
}

/** Continues recoveries in the background after their calls were answered, and ends what waits too long for paused endpoints. */
export function recoveries(database: Database): Task {
  return {
    name: 'recover',
    async due() {
      if ((await recoverSome(database)) || (await replaySome(database))) return true;
      await sendResumed(database);
      return await skipOverdue(database);
    },
  };
}
