// Sends events of a period to an endpoint again (decisions §15): those that it missed, or all. One window of events per transaction.
import { TEST_EVENT, formatInstant } from '@truckroll/contract';
import { notFreezing, type Database, type Queryable, type Transaction } from '@truckroll/postgres';
import { dayOf, firstIdAt } from '../log/delivery-id.ts';
import { notifyDue } from './due-notices.ts';
import { insertingDeliveries, type NewDelivery, type Stored } from './insert.ts';
import { subscribed, type EventSubscription } from '../filter/matchers.ts';
import { oldestDay } from '../log/partitions.ts';

/** Maximum deliveries queued by one transaction. */
export const MOST_AT_ONCE = 2000;
/** Condition on webhook_deliveries (alias d). */
export const NOT_A_TEST = `d.event_type <> '${TEST_EVENT}' and not d.test`;

/** A period from `since` to before `until`, in microseconds since 1970. */
export interface WebhookReplay {
  company_id: string;
  endpoint_id: string;
  since: number;
  until: number;
  /** Whether delivered events are sent again too. */
  delivered: boolean;
}

interface Endpoint extends EventSubscription {
  created_at: number;
}

const MILLISECOND = 1000;

/** Values of the statements: company, endpoint, first and last day, start and end. */
export function valuesOf({ company_id, endpoint_id, since, until }: Omit<WebhookReplay, 'delivered'>): unknown[] {
  const [, first] = [dayOf(since), oldestDay()].toSorted();
  return [company_id, endpoint_id, first, dayOf(until), formatInstant(since), formatInstant(until)];
}

/** Values of STORED: ids sort by time, so the scan starts at the window. */
function storedValues(replay: WebhookReplay): unknown[] {
  return [...valuesOf(replay), firstIdAt(replay.since), replay.delivered];
}

/** Condition on webhook_deliveries (alias d). */
const STORED = `d.company_id = $1 and d.endpoint_id = $2 and d.day between $3 and $4 and (d.day, d.id) >= ($3::date, $7::uuid)
  and d.occurred_at >= $5 and d.occurred_at < $6 and ${NOT_A_TEST} and case when $8 then d.state <> 'PENDING' else d.state in ('SKIPPED', 'FAILED') end`;
/** Condition on webhook_event_log (alias l). */
const LOGGED = `l.company_id = $1 and l.day between $3 and $4 and l.occurred_at >= $5 and l.occurred_at < $6`;

/** Queues the events of the first window. Resolves to where the next one starts; null after the last. Requires the endpoint's lock. */
export async function replayWindow(tx: Transaction, replay: WebhookReplay): Promise<{ queued: number; next: number | null }> {
  const end = await endOfWindow(tx, replay);
  const window = { ...replay, until: end };
  const endpoint = await subscriptionOf(tx, replay);
  const queued = (await queueStored(tx, window, endpoint)) + (await queueMissing(tx, window, endpoint));
  if (queued > 0) notifyDue(tx);
  return { queued, next: end < replay.until ? end : null };
}

/** The windows of stored deliveries and of logged events are the same, so that events of a subject stay in order. */
async function endOfWindow(tx: Transaction, replay: WebhookReplay): Promise<number> {
  const { rows } = await tx.query<{ at: number | null }>({
    name: 'end_of_replay_window',
    text: `select date_trunc('milliseconds', least(
        (select d.occurred_at from webhook_deliveries d where ${STORED} order by d.day, d.id offset ${MOST_AT_ONCE} limit 1),
        (select l.occurred_at from webhook_event_log l where ${LOGGED} order by l.day, l.occurred_at offset ${MOST_AT_ONCE} limit 1))) as at`,
    values: storedValues(replay),
  });
  const at = rows[0]?.at ?? replay.until;
  // Ids sort by milliseconds only, so a window holds whole ones.
  const least = (Math.floor(replay.since / MILLISECOND) + 1) * MILLISECOND;
  return Math.min(Math.max(at, least), replay.until);
}

async function subscriptionOf(tx: Transaction, { company_id, endpoint_id }: WebhookReplay): Promise<Endpoint> {
  const { rows } = await tx.query<Endpoint>({
    name: 'subscription_of_webhook',
    text: 'select id, event_types, filter, created_at from webhook_endpoints where company_id = $1 and id = $2',
    values: [company_id, endpoint_id],
  });
  return rows[0] as Endpoint;
}

async function queueStored(tx: Transaction, replay: WebhookReplay, { filter }: Endpoint): Promise<number> {
  const { rows } = await tx.query<{ day: string; id: string; type: string; body: Buffer }>({
    name: 'deliveries_to_replay',
    text: `select d.day::text as day, d.id, d.event_type as type, v.body from webhook_deliveries d
      left join lateral (select body from webhook_events where $9 and company_id = $1 and day = d.day and id = d.event_id limit 1) v on true
      where ${STORED} order by d.day, d.id for update of d`,
    values: [...storedValues(replay), filter !== null],
  });
  // Its types may have changed since: what was stored then is still its own.
  const chosen = rows.filter((row) => subscribed([{ id: replay.endpoint_id, event_types: [row.type], filter }], row).length > 0);
  if (chosen.length === 0) return 0;
  const { rowCount } = await tx.query({
    name: 'queue_deliveries_again',
    text: `with pending as (
        update webhook_deliveries d set state = 'PENDING', changed_at = now() from unnest($2::date[], $3::uuid[]) c (day, id)
        where d.company_id is not distinct from $1 and d.day = c.day and d.id = c.id returning d.*)
      insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at)
      select id, day, company_id, endpoint_id, subject, sequence, now() from pending`,
    values: [replay.company_id, chosen.map(({ day }) => day), chosen.map(({ id }) => id)],
  });
  return rowCount;
}

interface LoggedEvent {
  id: string;
  type: string;
  subject: string;
  sequence: number;
  timestamp: number;
  subject_number: string | null;
  customer_name: string | null;
  /** Null unless there is a filter. */
  body: Buffer | null;
}

/** Stores deliveries of events that never became one, because of the filter or the event types that the endpoint had. */
async function queueMissing(tx: Transaction, replay: WebhookReplay, endpoint: Endpoint): Promise<number> {
  const { company_id, endpoint_id: endpointId, since } = replay;
  const { rows } = await tx.query<LoggedEvent>({
    name: 'events_to_replay',
    text: `select l.id, l.type, l.subject, l.sequence, l.occurred_at as timestamp, l.subject_number, l.customer_name, v.body from webhook_event_log l
      left join lateral (select body from webhook_events where $8 and company_id = $1 and day = l.day and id = l.id limit 1) v on true
      where ${LOGGED} and l.type = any($7::text[]) and $2::uuid is not null order by l.day, l.occurred_at, l.id`,
    values: [...valuesOf({ ...replay, since: Math.max(since, endpoint.created_at) }), endpoint.event_types, endpoint.filter !== null],
  });
  const chosen = rows
    .map((row) => ({ ...row, company_id, body: row.body ?? Buffer.alloc(0) }))
    .filter((event) => subscribed([endpoint], event).length > 0)
    .map((event): NewDelivery => ({ event, endpointId, state: 'PENDING', forced: false }));
  const [inserting] = insertingDeliveries(chosen);
  // Deliveries that exist already are not changed.
  return inserting === undefined ? 0 : (await tx.query<Stored>(inserting)).rows.length;
}

const IS_REPLAY = 'endpoint_id = $1 and id = $2';

/** Whether there is work: cheaper than a transaction, which is needed to take it. */
export async function anyOf(database: Database, table: 'webhook_recoveries' | 'webhook_replays'): Promise<boolean> {
  const { rows } = await database.query<{ any: boolean }>({ name: `any_of_${table}`, text: `select exists (select from ${table}) as any` });
  return rows[0]?.any === true;
}

/** Queues the next window of any unfinished replay. False if there is none, or other replicas are working on all of them. */
export async function replaySome(database: Database): Promise<boolean> {
  if (!(await anyOf(database, 'webhook_replays'))) return false;
  return await database.transaction(async (tx) => {
    // Skips locked rows: a change of the endpoint locks it before its replays, so waiting could deadlock.
    const { rows } = await tx.query<WebhookReplay & { id: number }>({
      name: 'next_webhook_replay',
      text: `select r.id, e.company_id, r.endpoint_id, r.since, r.until, r.delivered from webhook_replays r join webhook_endpoints e on e.id = r.endpoint_id
        where ${notFreezing('e.company_id')} order by r.id limit 1 for update of r skip locked for share of e skip locked`,
    });
    const [replay] = rows;
    if (replay === undefined) return false;
    const { next } = await replayWindow(tx, replay);
    await tx.query(
      next === null
        ? { name: 'end_webhook_replay', text: `delete from webhook_replays where ${IS_REPLAY}`, values: [replay.endpoint_id, replay.id] }
        : {
            name: 'advance_webhook_replay',
            text: `update webhook_replays set since = $3 where ${IS_REPLAY}`,
            values: [replay.endpoint_id, replay.id, formatInstant(next)],
          },
    );
    return true;
  });
}

/** Number of stored deliveries in the rest of a period, which a replay considers. */
export async function countToReplay(database: Queryable, replay: WebhookReplay): Promise<number> {
  const { rows } = await database.query<{ count: number }>({
    name: 'count_deliveries_to_replay',
    text: `select count(*) from webhook_deliveries d where ${STORED}`,
    values: storedValues(replay),
  });
  return rows[0]?.count ?? 0;
}
