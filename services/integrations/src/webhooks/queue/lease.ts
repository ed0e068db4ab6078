// DeliveryService.Lease and Renew: lease due deliveries to a worker for a limited time, which ends early if the worker does.
import { now } from '@truckroll/contract';
import type { LeaseRequest, LeaseResponse, LeasedDelivery, RenewRequest, RenewResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { binaryArrays, notFreezing, notFrozen, type Database, type Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';
import { openHeaders, type StoredHeaders } from '../endpoints/custom-headers.ts';

const { uuid } = binaryArrays;

/** Covers an exchange of 15 s, another that it waits for, and reporting during an outage. A killed worker's leases end earlier: see SILENCE. */
export const LEASE = `interval '40 seconds'`;
/** Current time in the queue's statements. Each has its own, because statements of a transaction are pipelined. */
export const NOW = 'statement_timestamp()';
/** Serialises leasing: otherwise two concurrent workers could each get all of an endpoint's slots. */
export const LEASE_LOCK = `hashtextextended('webhook lease in ' || current_schema(), 0)`;
/** Condition on webhook_queue (alias q): requested by a user, not leased, and not yet failed. Retries of a probe are normal deliveries. */
const IS_PROBE = 'q.forced and q.failures = 0 and q.leased_until is null';
/**
 * Condition on webhook_queue (alias q) and its endpoint (alias e): a leased delivery that takes a slot of the endpoint. Those in the
 * parameter `taken`, which the endpoint has accepted, take one only if the endpoint is slowed down.
 */
export const inFlight = (taken: string): string => `q.leased_until is not null and (e.slowdowns > 0 or q.delivery_id <> all(${taken}::uuid[]))`;
/** Time that one delivery uses up of its endpoint's rate. Alias e: the endpoint. */
const EACH = `interval '1 second' / e.max_per_second`;
/** Until when the rate is used up. An endpoint may catch up on a tenth of a second: a limit of 100 a second sends at most 10 at once. */
const SPENT_UNTIL = `greatest(${NOW} - greatest(interval '100 milliseconds', ${EACH}), (select r.spent_until from webhook_rates r where r.endpoint_id = e.id))`;
/** Number of deliveries that the rate lets go now; null without a limit. The addend makes up for the rounding of intervals. */
const ALLOWED = `case when e.max_per_second is not null
  then greatest(0, floor(extract(epoch from ${NOW} - ${SPENT_UNTIL}) * e.max_per_second + 0.001))::int end`;
/** Maximum size of the bodies in one response, in bytes, to stay below the limit of a gRPC message. */
const MOST_BYTES = 8_000_000;

/** Silence after which a worker counts as dead. Workers call once a second. */
const SILENCE = `interval '4 seconds'`;
/** Silence of all workers that shows an outage of this service or its database. The next call then restarts SILENCE for all. */
const OUTAGE = `interval '2 seconds'`;

type Row = Omit<LeasedDelivery, 'secrets' | 'headers' | 'body'> & SealedEndpoint & { body: Buffer };

/** DeliveryService.Lease. `next_due_at` is when to ask again, in microseconds since 1970; null if nothing is known to become due. */
export async function lease({ database, secrets }: Context, request: LeaseRequest): Promise<LeaseResponse> {
  const asked = checked('LeaseRequest', request);
  if (await isEmpty(database)) return { deliveries: [], next_due_at: null };
  const { rows, nextDueAt } = await database.transaction(
    async (tx) => {
      // Pipelined.
      const lock = tx.query({ name: 'lock_webhook_leases', text: `select pg_advisory_xact_lock(${LEASE_LOCK})` });
      const [, , taken, next] = await Promise.all([lock, freeExpired(tx), take(tx, asked), nextDue(tx)]);
      const fitting = await withinSize(tx, taken);
      return { rows: fitting, nextDueAt: fitting.length < taken.length ? now() : next };
    },
    // Leases that expire may skip deliveries, in no order; reports and erasures lock them in that of their ids.
    { retryContention: true },
  );
  const open = opener(secrets);
  return { deliveries: rows.map(open), next_due_at: nextDueAt };
}

/** A cheap check, because dispatchers poll even when nothing was sent for hours. */
async function isEmpty(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ empty: boolean }>({ name: 'webhook_queue_is_empty', text: 'select not exists (select from webhook_queue) as empty' });
  return rows[0]?.empty === true;
}

export interface SealedEndpoint extends StoredHeaders {
  secret: Buffer;
  previous_secret: Buffer | null;
}

type Opened = Pick<LeasedDelivery, 'secrets' | 'headers'>;

/** Replaces sealed secrets and headers by what they contain. Decrypts those of an endpoint once. */
export function opener(
  secrets: Context['secrets'],
): <D extends { endpoint_id: string }>(delivery: D & SealedEndpoint) => Omit<D, keyof SealedEndpoint> & Opened {
  const opened = new Map<string, Opened>();
  return ({ secret, previous_secret: previous, header_names, header_values, ...delivery }) => {
    const { endpoint_id: id } = delivery;
    let found = opened.get(id);
    if (found === undefined) {
      const sealed = previous === null ? [secret] : [secret, previous];
      found = { secrets: sealed.map((each) => secrets.open(id, each)), headers: openHeaders(secrets, id, { header_names, header_values }) };
      opened.set(id, found);
    }
    return { ...delivery, ...found };
  };
}

/** Ends expired leases: deliveries are due again, or SKIPPED if the endpoint was disabled. Keeps lease tokens for late reports. */
async function freeExpired(tx: Transaction): Promise<void> {
  await tx.query({
    name: 'free_expired_leases',
    text: `with expired as (
        select q.delivery_id, q.day, e.company_id, not (e.enabled or q.forced) as off from webhook_queue q join webhook_endpoints e on e.id = q.endpoint_id
        where q.leased_until <= ${NOW} and ${notFreezing('e.company_id')} for update of q skip locked),
      gone as (delete from webhook_queue q using expired x where x.off and q.delivery_id = x.delivery_id),
      skipped as (update webhook_deliveries d set state = 'SKIPPED', changed_at = ${NOW} from expired x
        where x.off and d.company_id is not distinct from x.company_id and d.day = x.day and d.id = x.delivery_id)
      update webhook_queue q set leased_until = null from expired x where not x.off and q.delivery_id = x.delivery_id`,
  });
}

/**
 * Leases due deliveries. Steps from endpoint to endpoint by index, so that the cost per endpoint does not depend on the backlog.
 * - Companies take turns, and so do each company's endpoints: a company with more endpoints gets no more than others.
 * - Probes (deliveries that users just requested) go first and ignore circuits and slow-downs; one goes even if all slots are taken.
 * - An endpoint's rate limits probes and others alike. Only this statement changes webhook_rates, one call at a time.
 * - `limit` makes PostgreSQL look up the leased deliveries by key, even if the plan was made for a small partition.
 *
 *     queued → open ──┐
 *                     ├→ due → chosen → leased → spent
 *     asked → probes ─┘
 *
 * queued and asked are endpoints with due deliveries and with probes; open and probes say how many and which of them may go now; due has
 * both, companies in turn; chosen are the first of these; leased gives them tokens; spent is when an endpoint's rate allows the next one.
 */
async function take(tx: Transaction, asked: LeaseRequest): Promise<Row[]> {
  const { rows } = await tx.query<Row>({
    name: 'lease_webhook_deliveries',
    text: `with recursive queued (endpoint_id, due_at) as (
        (select endpoint_id, due_at from webhook_queue where leased_until is null order by endpoint_id, due_at limit 1)
        union all
        select next.endpoint_id, next.due_at from queued cross join lateral (
          select q.endpoint_id, q.due_at from webhook_queue q
          where q.leased_until is null and q.endpoint_id > queued.endpoint_id order by q.endpoint_id, q.due_at limit 1) next),
      asked (endpoint_id) as (
        (select endpoint_id from webhook_queue q where ${IS_PROBE} order by endpoint_id, due_at limit 1)
        union all
        select next.endpoint_id from asked cross join lateral (
          select q.endpoint_id from webhook_queue q where ${IS_PROBE} and q.endpoint_id > asked.endpoint_id order by q.endpoint_id, q.due_at limit 1) next),
      busy as (select * from unnest($6::uuid[], $7::int[]) b (company_id, room)),
      probes as (
        select d.*, e.id as endpoint_id, e.company_id from asked join webhook_endpoints e on e.id = asked.endpoint_id
        cross join lateral (
          select count(*) as leased, count(*) filter (where q.forced and q.failures = 0) as probes
          from webhook_queue q where q.endpoint_id = e.id and q.leased_until is not null) in_flight
        cross join lateral (
          select q.delivery_id, q.due_at, row_number() over (order by q.due_at, q.sequence) as ordinal
          from webhook_queue q where ${IS_PROBE} and q.endpoint_id = e.id and q.due_at <= ${NOW}
          order by q.due_at, q.sequence
          limit least(greatest($1::int - in_flight.leased, case when in_flight.probes = 0 then 1 else 0 end), ${ALLOWED})) d
        where e.deleted_at is null and ${notFreezing('e.company_id')}
          and not exists (select from busy b where b.company_id = e.company_id and b.room = 0)),
      open as (
        select e.id, e.enabled, e.company_id, greatest(0, least(
            case when e.slowdowns > 0 then 1 else $1::int end
              - (select count(*) from webhook_queue q where q.endpoint_id = e.id and ${inFlight('$8')}),
            ${ALLOWED})
          - (select count(*) from probes p where p.endpoint_id = e.id)) as room
        from queued join webhook_endpoints e on e.id = queued.endpoint_id
        where queued.due_at <= ${NOW} and e.deleted_at is null and (e.resume_at is null or e.resume_at <= ${NOW}) and e.id <> all($2::uuid[])
          and ${notFreezing('e.company_id')}
          and not exists (select from busy b where b.company_id = e.company_id and b.room = 0)),
      due as (
        select d.*, row_number() over (partition by d.company_id order by not d.probe, d.ordinal, d.due_at) as turn from (
          select delivery_id, due_at, ordinal, company_id, true as probe from probes
          union all
          select d.*, open.company_id, false from open cross join lateral (
            select q.delivery_id, q.due_at, row_number() over (order by q.due_at, q.sequence) as ordinal
            from webhook_queue q
            where q.endpoint_id = open.id and q.leased_until is null and q.due_at <= ${NOW} and (open.enabled or q.forced)
              and not (q.forced and q.failures = 0)
              and (q.tried or q.forced or not exists (
                select from webhook_queue p
                where p.endpoint_id = q.endpoint_id and p.subject = q.subject and p.sequence < q.sequence and not p.tried))
            order by q.due_at, q.sequence limit open.room) d) d),
      chosen as (
        select d.delivery_id from due d left join busy b using (company_id) where d.turn <= coalesce(b.room, $5::int) is not false
        order by d.turn, not d.probe, d.due_at limit $3),
      leased as (
        update webhook_queue q set lease_token = gen_random_uuid(), leased_until = ${NOW} + ${LEASE}, worker = $4
        from chosen where q.delivery_id = chosen.delivery_id
        returning q.delivery_id, q.endpoint_id, q.day, q.lease_token, q.leased_until, q.due_at, q.sequence, q.forced and q.failures = 0 as probe),
      spent as (
        insert into webhook_rates (endpoint_id, spent_until)
        select e.id, ${SPENT_UNTIL} + l.sent * ${EACH}
        from (select endpoint_id, count(*) as sent from leased group by endpoint_id) l join webhook_endpoints e on e.id = l.endpoint_id
        where e.max_per_second is not null on conflict (endpoint_id) do update set spent_until = excluded.spent_until)
      select l.delivery_id, l.lease_token, l.leased_until as lease_expires_at, d.company_id, d.endpoint_id, e.url, e.secret,
        case when e.previous_secret_until > ${NOW} then e.previous_secret end as previous_secret, e.header_names, e.header_values,
        d.event_id, d.event_type, nullif(d.test, false) as test, v.body, d.attempts + 1 as attempt, l.probe, v.request_id, v.traceparent
      from leased l
      cross join lateral (select company_id, endpoint_id, event_id, event_type, test, attempts from webhook_deliveries where day = l.day and id = l.delivery_id limit 1) d
      cross join lateral (select body, request_id, traceparent from webhook_events where company_id = d.company_id and day = l.day and id = d.event_id limit 1) v
      join webhook_endpoints e on e.company_id = d.company_id and e.id = d.endpoint_id
      order by l.due_at, l.sequence`,
    values: [
      asked.max_in_flight_per_endpoint,
      asked.excluded_endpoint_ids,
      asked.max_deliveries,
      asked.worker_id,
      asked.max_of_company ?? null,
      asked.busy_companies.map(({ company_id }) => company_id),
      asked.busy_companies.map(({ max_deliveries }) => max_deliveries),
      uuid(asked.taken_delivery_ids),
    ],
  });
  return rows;
}

/** Releases the deliveries that do not fit in one response. The next request gets them. */
async function withinSize(tx: Transaction, rows: readonly Row[]): Promise<Row[]> {
  let size = 0;
  const fitting = rows.filter((row, index) => (size += row.body.length) <= MOST_BYTES || index === 0);
  if (fitting.length < rows.length) {
    const kept = new Set(fitting);
    await tx.query({
      text: 'update webhook_queue set lease_token = null, leased_until = null, worker = null where delivery_id = any($1::uuid[])',
      values: [rows.filter((row) => !kept.has(row)).map((row) => row.delivery_id)],
    });
  }
  return fitting;
}

async function nextDue(tx: Transaction): Promise<number | null> {
  const { rows } = await tx.query<{ at: number | null }>({
    name: 'next_webhook_due',
    text: `select least((select min(due_at) from webhook_queue where tried and due_at > ${NOW}),
      (select min(resume_at) from webhook_endpoints where resume_at > ${NOW}),
      (select min(r.spent_until + ${EACH}) from webhook_rates r join webhook_endpoints e on e.id = r.endpoint_id
        where r.spent_until > ${NOW} - interval '1 second' and e.max_per_second is not null and exists (
          select from webhook_queue q where q.endpoint_id = e.id and q.leased_until is null and q.due_at <= ${NOW}))) as at`,
  });
  return rows[0]?.at ?? null;
}

/** DeliveryService.Renew. Also makes the deliveries of silent workers due again. */
export async function renew({ database, log }: Context, request: RenewRequest): Promise<RenewResponse> {
  const { worker_id: worker, leaving } = checked('RenewRequest', request);
  if (!leaving && (await renewAmongOthers(database, worker))) return {};
  const gone = await database.transaction(
    async (tx) => {
      const [, silent] = await Promise.all([renewAlone(tx, worker, leaving), removeSilent(tx)]);
      if (silent.length > 0) await endLeases(tx, silent);
      return silent.filter((id) => id !== worker);
    },
    { retryContention: true },
  );
  if (gone.length > 0) log.warn({ gone }, 'webhook dispatchers are silent: their deliveries are due again');
  return {};
}

/** The usual case in one statement without locks: no worker is silent and there was no outage. False otherwise. */
async function renewAmongOthers(database: Database, worker: string): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'renew_webhook_worker_among_others',
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
async function renewAlone(tx: Transaction, worker: string, leaving: boolean): Promise<void> {
  await Promise.all([
    tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('webhook workers in ' || current_schema(), 0))` }),
    tx.query({
      name: 'forgive_webhook_workers',
      text: `update webhook_workers set seen_at = statement_timestamp()
        where (select max(seen_at) from webhook_workers) < statement_timestamp() - ${OUTAGE}`,
    }),
    tx.query({
      name: 'renew_webhook_worker',
      text: `insert into webhook_workers (id, seen_at) values ($1, case when $2 then '-infinity' else statement_timestamp() end)
        on conflict (id) do update set seen_at = excluded.seen_at`,
      values: [worker, leaving],
    }),
  ]);
}

async function removeSilent(tx: Transaction): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'forget_webhook_workers',
    text: `delete from webhook_workers where seen_at < statement_timestamp() - ${SILENCE} returning id`,
  });
  return rows.map(({ id }) => id);
}

/** Ends the workers' leases, also those for which a freeze waits. The next Lease handles them as expired. */
async function endLeases(tx: Transaction, workers: readonly string[]): Promise<void> {
  await tx.query({
    name: 'end_webhook_leases',
    text: `update webhook_queue set leased_until = statement_timestamp()
      where leased_until > statement_timestamp() and worker = any($1::text[]) and ${notFrozen('webhook_queue.company_id')}`,
    values: [workers],
  });
}
