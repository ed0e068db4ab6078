// DeliveryService.FanOut: stores public events as deliveries, one for each subscribed endpoint.
import type { FanOutRequest, FanOutResponse, LeaseRequest, LeasedDelivery, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { erasedPeopleAmong, idsIn, isErased, type ErasedPerson } from '@truckroll/outbox';
import { binaryArrays, notFreezing, type Statement, type Transaction } from '@truckroll/postgres';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';
import { resume } from './dead-letters.ts';
import { count } from '../health/metrics.ts';
import { dayOf } from '../log/delivery-id.ts';
import { subscribed, type EventSubscription } from '../filter/matchers.ts';
import { LEASE_LOCK, NOW, inFlight, opener, type SealedEndpoint } from '../queue/lease.ts';
import { chooseLeased, type FreeSlots } from '../queue/choose.ts';
import { asSandbox } from './sandbox.ts';
import { insertingBodies, insertingDeliveries, type NewDelivery, type Stored } from '../queue/insert.ts';
import { oldestDay } from '../log/partitions.ts';
import { eventWithout } from '../log/without-person.ts';

const { bigint, date, timestamptz, text, uuid } = binaryArrays;

interface Subscriber extends FreeSlots, SealedEndpoint, EventSubscription {
  company_id: string;
  enabled: boolean;
  url: string;
}

interface Locked {
  subscribers: Subscriber[];
  /** Ids of those companies whose records are generated. */
  sandboxes: readonly string[];
  /** Ids of those that were deleted. */
  erased: readonly string[];
  people: readonly ErasedPerson[];
}

/** Events older than the log keeps, stored before, or of deleted companies add nothing. With `lease`, leases new deliveries to the caller in the same transaction. */
export async function fanOut({ database, partitions, deliveries, secrets }: Context, request: FanOutRequest): Promise<FanOutResponse> {
  const oldest = oldestDay();
  const { events: all, dead_letter_ids: letters, lease: asked } = checked('FanOutRequest', request);
  const recent = all.filter(({ timestamp }) => dayOf(timestamp) >= oldest);
  if (recent.length === 0 && letters.length === 0) return { pending: 0, skipped: 0, deliveries: [] };
  await partitions.ensure(recent.map(({ timestamp }) => dayOf(timestamp)));
  const { stored, subscribers } = await database.transaction(
    async (tx) => {
      const { subscribers, sandboxes, erased, people } = await lockSubscribers(tx, recent, asked);
      const kept = erased.length === 0 ? recent : recent.filter((event) => !erased.includes(event.company_id));
      const given = people.length === 0 ? kept : kept.map((event) => eventWithout(people, event));
      // The caller has their bodies as they were.
      const changed = new Set(given.flatMap((event, i) => (event === kept[i] ? [] : [event.company_id])));
      const free = changed.size === 0 ? subscribers : subscribers.map((each) => (changed.has(each.company_id) ? { ...each, free: 0 } : each));
      await resume(tx, letters);
      const events = sandboxes.length === 0 ? given : given.map((event) => (sandboxes.includes(event.company_id) ? asSandbox(event) : event));
      const all = deliveriesOf(events, subscribers);
      const leased = asked == null ? undefined : { worker: asked.worker_id, deliveries: chooseLeased(all, free, asked) };
      const added = (await tx.finish([...insertingEvents(events), ...insertingDeliveries(all, leased)])).at(-1);
      return { stored: all.length === 0 ? [] : ((added?.rows ?? []) as Stored[]), subscribers };
    },
    { retryContention: true },
  );
  const [pending, skipped] = (['PENDING', 'SKIPPED'] as const).map((state) => {
    const number = stored.filter((each) => each.state === state).length;
    count(deliveries, state, number);
    return number;
  }) as [number, number];
  return { pending, skipped, deliveries: leasedOf(stored, subscribers, opener(secrets)) };
}

function deliveriesOf(events: readonly PublicEvent[], subscribers: readonly Subscriber[]): NewDelivery[] {
  const ofCompany = Map.groupBy(subscribers, ({ company_id }) => company_id);
  return events.flatMap((event) =>
    subscribed(ofCompany.get(event.company_id) ?? [], event).map(
      ({ id, enabled }): NewDelivery => ({ event, endpointId: id, state: enabled ? 'PENDING' : 'SKIPPED', forced: false }),
    ),
  );
}

/**
 * Locks the companies' endpoints, so that nothing is queued for an endpoint while it is being disabled. `free` is the number of deliveries
 * that may be leased now: 0 for companies that are frozen or about to be, for sandboxes, whose stored bodies the caller does not have, if others are due, which go first, if the endpoint has a rate, which only Lease keeps to, or if another worker holds the lease lock, which storing must not wait for.
 */
async function lockSubscribers(tx: Transaction, events: readonly PublicEvent[], asked: LeaseRequest | null | undefined): Promise<Locked> {
  const companyIds = [...new Set(events.map((event) => event.company_id))];
  const mostInFlight = asked?.max_in_flight_per_endpoint ?? 0;
  const lock = tx.query<{ held: boolean; sandboxes: string[]; erased: string[] }>({
    name: 'try_to_lock_webhook_leases',
    text: `select $1::int > 0 and pg_try_advisory_xact_lock(${LEASE_LOCK}) as held, array(select id from companies where id = any($2::uuid[]) and sandbox) as sandboxes,
      array(select g.id from unnest($2::uuid[]) g (id) where ${isErased('g.id')}) as erased`,
    values: [mostInFlight, companyIds],
  });
  const subscribers = tx.query<Subscriber>({
    name: 'webhook_subscribers',
    text: `select id, company_id, event_types, filter, enabled, url, secret, case when previous_secret_until > ${NOW} then previous_secret end as previous_secret,
        header_names, header_values,
        case when $2::int = 0 or resume_at > ${NOW} or max_per_second is not null or not ${notFreezing('e.company_id')} or exists (
            select from webhook_queue q where q.endpoint_id = e.id and q.leased_until is null and q.due_at <= ${NOW}) then 0
          else case when slowdowns > 0 then 1 else $2::int end
            - (select count(*) from webhook_queue q where q.endpoint_id = e.id and ${inFlight('$3')})::int end as free
      from webhook_endpoints e where company_id = any($1::uuid[]) and deleted_at is null order by id for share of e`,
    values: [companyIds, mostInFlight, uuid(asked?.taken_delivery_ids ?? [])],
  });
  const texts = events.flatMap(({ body, people: named }) => (named == null ? [body] : [body, Buffer.from(named)]));
  const [
    {
      rows: [found],
    },
    { rows },
    people,
  ] = await Promise.all([lock, subscribers, erasedPeopleAmong(tx, companyIds, idsIn(texts))]);
  const { held = false, sandboxes = [], erased = [] } = found ?? {};
  if (held && sandboxes.length === 0) return { subscribers: rows, sandboxes, erased, people };
  return { subscribers: rows.map((row) => (held && !sandboxes.includes(row.company_id) ? row : { ...row, free: 0 })), sandboxes, erased, people };
}

/** Fields that the caller of FanOut knows, and those of a first attempt. */
const FIRST = { event_type: '', body: Buffer.alloc(0), attempt: 1, probe: false, request_id: null, traceparent: null };

function leasedOf(stored: readonly Stored[], subscribers: readonly Subscriber[], open: ReturnType<typeof opener>): LeasedDelivery[] {
  const byId = new Map(subscribers.map((each) => [each.id, each]));
  return stored.flatMap(({ state: _state, ...delivery }) => {
    const endpoint = byId.get(delivery.endpoint_id);
    if (delivery.lease_token === null || endpoint === undefined) return [];
    const { company_id, url, secret, previous_secret, header_names, header_values } = endpoint;
    return [open({ ...FIRST, ...delivery, company_id, url, secret, previous_secret, header_names, header_values })];
  });
}

/** Statements that keep events, for previews and recoveries too. Partitions must exist. */
function insertingEvents(events: readonly PublicEvent[]): Statement[] {
  if (events.length === 0) return [];
  const of = <T>(pick: (event: PublicEvent) => T): T[] => events.map(pick);
  const listing: Statement = {
    name: 'log_webhook_events',
    text: `insert into webhook_event_log (day, company_id, occurred_at, id, type, subject, sequence, subject_number, customer_name)
      select * from unnest($1::date[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
        g (day, company_id, occurred_at, id, type, subject, sequence, subject_number, customer_name) on conflict do nothing`,
    values: [
      date(of(({ timestamp }) => dayOf(timestamp))),
      uuid(of(({ company_id }) => company_id)),
      timestamptz(of(({ timestamp }) => timestamp)),
      uuid(of(({ id }) => id)),
      text(of(({ type }) => type)),
      text(of(({ subject }) => subject)),
      bigint(of(({ sequence }) => sequence)),
      text(of(({ subject_number }) => subject_number ?? null)),
      text(of(({ customer_name }) => customer_name ?? null)),
    ],
  };
  return [insertingBodies(events), listing];
}
