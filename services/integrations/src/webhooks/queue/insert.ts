// Statements that store events' bodies and their deliveries.
import type { LeasedDelivery, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { binaryArrays, type Statement } from '@truckroll/postgres';
import type { DeliveryState } from '../health/rules.ts';
import { dayOf, deliveryId } from '../log/delivery-id.ts';
import type { NewlyQueued } from './choose.ts';
import { LEASE, NOW } from './lease.ts';

const { bigint, boolean, bytea, date, timestamptz, text, uuid } = binaryArrays;

export interface NewDelivery extends NewlyQueued {
  event: PublicEvent;
  /** Sent even while the endpoint is disabled. */
  forced: boolean;
  /** Tried once. */
  test?: boolean;
}

/** A delivery that was stored; leased unless its lease is null. */
export type Stored = Pick<LeasedDelivery, 'delivery_id' | 'endpoint_id' | 'event_id'> & { state: DeliveryState } & (Lease | Record<keyof Lease, null>);

type Lease = Pick<LeasedDelivery, 'lease_token' | 'lease_expires_at'>;

/** Deliveries to lease while storing them. */
interface LeasedNow {
  worker: string;
  deliveries: ReadonlySet<NewDelivery>;
}

/** The statement that keeps the bodies of events. Partitions must exist. */
export function insertingBodies(events: readonly PublicEvent[]): Statement {
  const of = <T>(pick: (event: PublicEvent) => T): T[] => events.map(pick);
  return {
    name: 'insert_webhook_events',
    text: `insert into webhook_events (day, id, company_id, type, body, request_id, traceparent, people)
      select * from unnest($1::date[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::uuid[], $7::text[], $8::text[])
        g (day, id, company_id, type, body, request_id, traceparent, people) on conflict do nothing`,
    values: [
      date(of(({ timestamp }) => dayOf(timestamp))),
      uuid(of(({ id }) => id)),
      uuid(of(({ company_id }) => company_id)),
      text(of(({ type }) => type)),
      bytea(of(({ body }) => body)),
      uuid(of(({ request_id }) => request_id ?? null)),
      text(of(({ traceparent }) => traceparent ?? null)),
      text(of(({ people }) => people ?? null)),
    ],
  };
}

/** The statement that stores deliveries of kept events, and queues or leases PENDING ones. Partitions must exist. Returns new deliveries as Stored. */
export function insertingDeliveries(deliveries: readonly NewDelivery[], leased?: LeasedNow): Statement[] {
  if (deliveries.length === 0) return [];
  const byId = new Map(deliveries.map((delivery) => [deliveryId(delivery.event.timestamp, delivery.event.id, delivery.endpointId), delivery]));
  const list = [...byId.values()];
  const of = <T>(pick: (event: PublicEvent) => T): T[] => list.map(({ event }) => pick(event));
  return [
    {
      name: 'insert_webhook_deliveries',
      text: `with given as (
          select * from unnest($1::uuid[], $2::date[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::timestamptz[],
            $10::text[], $11::boolean[], $12::text[], $13::text[], $14::boolean[], $16::boolean[])
            g (id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, forced, subject_number, customer_name, chosen, test)),
        added as (
          insert into webhook_deliveries (
            id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, subject_number, customer_name, test)
          select id, day, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, subject_number, customer_name, test from given
          on conflict do nothing returning id, endpoint_id, event_id, state),
        due as materialized (
          select g.*, g.chosen and not exists (
            select from webhook_queue p where p.endpoint_id = g.endpoint_id and p.subject = g.subject and p.sequence < g.sequence and not p.tried) as leased
          from given g join added a on a.id = g.id where a.state = 'PENDING'),
        queued as (
          insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at, forced, lease_token, leased_until, worker)
          select id, day, company_id, endpoint_id, subject, sequence, now(), forced, case when leased then gen_random_uuid() end,
            case when leased then ${NOW} + ${LEASE} end, case when leased then $15 end from due
          returning delivery_id, lease_token, leased_until)
        select a.id as delivery_id, a.state, a.endpoint_id, a.event_id, q.lease_token, q.leased_until as lease_expires_at from added a left join queued q on q.delivery_id = a.id`,
      values: [
        uuid([...byId.keys()]),
        date(of(({ timestamp }) => dayOf(timestamp))),
        uuid(of(({ company_id }) => company_id)),
        uuid(list.map(({ endpointId }) => endpointId)),
        uuid(of(({ id }) => id)),
        text(of(({ type }) => type)),
        text(of(({ subject }) => subject)),
        bigint(of(({ sequence }) => sequence)),
        timestamptz(of(({ timestamp }) => timestamp)),
        text(list.map(({ state }) => state)),
        boolean(list.map(({ forced }) => forced)),
        text(of(({ subject_number }) => subject_number ?? null)),
        text(of(({ customer_name }) => customer_name ?? null)),
        boolean(list.map((delivery) => leased?.deliveries.has(delivery) ?? false)),
        leased?.worker ?? null,
        boolean(list.map(({ test = false }) => test)),
      ],
    },
  ];
}
