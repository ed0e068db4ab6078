// DeliveryService.FanOut: public events into deliveries, one for each endpoint that subscribes to them.
import { formatInstant } from '@truckroll/contract';
import type { FanOutRequest, FanOutResponse, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Transaction } from '@truckroll/service-kit';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { resume } from './dead-letters.ts';
import { count } from './figures.ts';
import { dayOf, deliveryId } from './delivery-id.ts';
import { oldestDay } from './partitions.ts';
import type { DeliveryState } from './rules.ts';

interface Subscriber {
  id: string;
  company_id: string;
  event_types: string[];
  enabled: boolean;
}

export interface NewDelivery {
  event: PublicEvent;
  endpointId: string;
  state: DeliveryState;
  /** Sent also while the endpoint is disabled. */
  forced: boolean;
}

export async function fanOut({ database, partitions, deliveries }: Context, request: FanOutRequest): Promise<FanOutResponse> {
  const oldest = oldestDay();
  const { events: given, dead_letter_ids: letters } = checked('FanOutRequest', request);
  const events = given.filter(({ timestamp }) => dayOf(timestamp) >= oldest);
  if (events.length === 0 && letters.length === 0) return { pending: 0, skipped: 0 };
  await partitions.ensure(events.map(({ timestamp }) => dayOf(timestamp)));
  const stored = await database.transaction(
    async (tx) => {
      const subscribers = await lockSubscribers(tx, [...new Set(events.map((event) => event.company_id))]);
      await resume(tx, letters);
      return await insertDeliveries(tx, deliveriesOf(events, subscribers));
    },
    { retryContention: true },
  );
  const [pending, skipped] = (['PENDING', 'SKIPPED'] as const).map((state) => {
    const number = stored.filter((each) => each === state).length;
    count(deliveries, state, number);
    return number;
  }) as [number, number];
  return { pending, skipped };
}

function deliveriesOf(events: readonly PublicEvent[], subscribers: readonly Subscriber[]): NewDelivery[] {
  return events.flatMap((event) =>
    subscribers
      .filter(({ company_id, event_types }) => company_id === event.company_id && event_types.includes(event.type))
      .map(({ id, enabled }): NewDelivery => ({ event, endpointId: id, state: enabled ? 'PENDING' : 'SKIPPED', forced: false })),
  );
}

/** They stay enabled or disabled until the transaction ends: nothing is queued behind the back of whoever disables one. */
async function lockSubscribers(tx: Transaction, companyIds: readonly string[]): Promise<Subscriber[]> {
  const { rows } = await tx.query<Subscriber>({
    name: 'webhook_subscribers',
    text: `select id, company_id, event_types, enabled from webhook_endpoints
      where company_id = any($1::uuid[]) and deleted_at is null order by id for share`,
    values: [companyIds],
  });
  return rows;
}

/** Stores what is not there yet, and queues what is PENDING. Partitions must exist. Returns the states of what was new. */
export async function insertDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<DeliveryState[]> {
  if (deliveries.length === 0) return [];
  const byId = new Map(deliveries.map((delivery) => [deliveryId(delivery.event.timestamp, delivery.event.id, delivery.endpointId), delivery]));
  const events = [...new Map([...byId.values()].map(({ event }) => [event.id, event])).values()];
  const list = [...byId];
  const [, { rows }] = await Promise.all([
    tx.query({
      name: 'insert_webhook_events',
      text: `insert into webhook_events (day, id, company_id, type, body, request_id, traceparent)
        select * from unnest($1::date[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::uuid[], $7::text[]) on conflict do nothing`,
      values: [
        events.map((event) => dayOf(event.timestamp)), events.map((event) => event.id), events.map((event) => event.company_id),
        events.map((event) => event.type), events.map((event) => Buffer.from(event.body)),
        events.map((event) => event.request_id ?? null), events.map((event) => event.traceparent ?? null),
      ],
    }),
    tx.query<{ state: DeliveryState }>({
      name: 'insert_webhook_deliveries',
      text: `with given as (
          select * from unnest($1::uuid[], $2::date[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::timestamptz[],
            $10::text[], $11::boolean[], $12::text[], $13::text[])
            g (id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, forced, subject_number, customer_name)),
        added as (
          insert into webhook_deliveries (
            id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, subject_number, customer_name)
          select id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, subject_number, customer_name from given
          on conflict do nothing returning id, state),
        queued as (
          insert into webhook_queue (delivery_id, day, endpoint_id, subject, sequence, due_at, forced)
          select g.id, g.day, g.endpoint_id, g.subject, g.sequence, now(), g.forced from given g join added a on a.id = g.id where a.state = 'PENDING')
        select state from added`,
      values: [
        list.map(([id]) => id), list.map(([, { event }]) => dayOf(event.timestamp)), list.map(([, { event }]) => event.company_id),
        list.map(([, { endpointId }]) => endpointId), list.map(([, { event }]) => event.id), list.map(([, { event }]) => event.type),
        list.map(([, { event }]) => event.subject), list.map(([, { event }]) => event.sequence),
        list.map(([, { event }]) => formatInstant(event.timestamp)), list.map(([, { state }]) => state), list.map(([, { forced }]) => forced),
        list.map(([, { event }]) => event.subject_number ?? null), list.map(([, { event }]) => event.customer_name ?? null),
      ],
    }),
  ]);
  return rows.map(({ state }) => state);
}
