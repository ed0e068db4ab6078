// DeliveryService.Renew: tracks which workers are alive. A lease ends with its worker, or when its time in lease.ts is over.
import type { RenewRequest, RenewResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Database, Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';

/** Silence after which a worker counts as dead. Workers call once a second. */
const SILENCE = `interval '4 seconds'`;
/** Silence of all workers that shows an outage of this service or its database. The next call then restarts SILENCE for all. */
const OUTAGE = `interval '2 seconds'`;

export async function renew({ database, log }: Context, request: RenewRequest): Promise<RenewResponse> {
  const { worker_id: worker, leaving } = checked('RenewRequest', request);
  if (!leaving && (await heardAmongOthers(database, worker))) return {};
  const gone = await database.transaction(
    async (tx) => {
      const [, silent] = await Promise.all([hear(tx, worker, leaving), silentOnes(tx)]);
      if (silent.length > 0) await endLeases(tx, silent);
      return silent.filter((id) => id !== worker);
    },
    { retryContention: true },
  );
  if (gone.length > 0) log.warn({ gone }, 'webhook dispatchers have gone silent: what they had is due again');
  return {};
}

/** The usual case in one statement without locks: no worker is silent and there was no outage. False otherwise. */
async function heardAmongOthers(database: Database, worker: string): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'hear_webhook_worker_among_others',
    text: `insert into webhook_workers as w (id, seen_at)
      select $1, statement_timestamp() from webhook_workers
      having max(seen_at) >= statement_timestamp() - ${OUTAGE}
        and coalesce(min(seen_at) filter (where id <> $1) >= statement_timestamp() - ${SILENCE}, true)
      on conflict (id) do update set seen_at = excluded.seen_at`,
    values: [worker],
  });
  return rowCount === 1;
}

/** Records a worker's call. Takes a lock, so that the first call after an outage is known to be the first. */
async function hear(tx: Transaction, worker: string, leaving: boolean): Promise<void> {
  await Promise.all([
    tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('webhook workers in ' || current_schema(), 0))` }),
    tx.query({
      name: 'forgive_webhook_workers',
      text: `update webhook_workers set seen_at = statement_timestamp()
        where (select max(seen_at) from webhook_workers) < statement_timestamp() - ${OUTAGE}`,
    }),
    tx.query({
      name: 'hear_webhook_worker',
      text: `insert into webhook_workers (id, seen_at) values ($1, case when $2 then '-infinity' else statement_timestamp() end)
        on conflict (id) do update set seen_at = excluded.seen_at`,
      values: [worker, leaving],
    }),
  ]);
}

async function silentOnes(tx: Transaction): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'forget_webhook_workers',
    text: `delete from webhook_workers where seen_at < statement_timestamp() - ${SILENCE} returning id`,
  });
  return rows.map(({ id }) => id);
}

/** Ends the workers' leases. The next Lease handles them as expired. */
async function endLeases(tx: Transaction, workers: readonly string[]): Promise<void> {
  await tx.query({
    name: 'end_webhook_leases',
    text: `update webhook_queue set leased_until = statement_timestamp()
      where leased_until > statement_timestamp() and worker = any($1::text[])`,
    values: [workers],
  });
}
