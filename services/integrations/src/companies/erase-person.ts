// Erases a person from webhooks that were sent or wait (docs/adr/0024). The audit trail and the topic that keeps erasures get the id.
import { formatInstant } from '@truckroll/contract';
import type { PersonStep } from '@truckroll/erasure';
import { ERASED_PERSON, PERSON_ERASED, append, auditEntry, type ErasedPerson } from '@truckroll/outbox';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import { insertAuditEntries } from '../audit/store.ts';
import { withoutPerson } from '../webhooks/log/without-person.ts';
import { erasureOf } from './erasures.ts';

/** Events that one transaction looks at. */
const LOOKED_AT = 200;

export async function beginErasing(tx: Transaction, { companyId, kind, id }: ErasedPerson): Promise<void> {
  const entry = auditEntry({ companyId, action: PERSON_ERASED, object: { kind, id } });
  await insertAuditEntries(tx, [entry]);
  await append(tx, [erasureOf(entry)]);
}

interface Logged {
  day: string;
  occurred_at: number;
  id: string;
  body: Buffer | null;
}

interface Shown {
  day: string;
  id: string;
  body: Buffer;
}

const webhooks: PersonStep = {
  table: 'webhook_events',
  async next(tx, person, after) {
    const place = after?.split(' ') ?? [null, null, null];
    const { rows } = await tx.query<Logged>({
      name: 'webhook_events_to_erase_from',
      text: `select l.day::text as day, l.occurred_at, l.id, e.body from (
          select day, occurred_at, id from webhook_event_log
          where company_id = $1 and ($2::date is null or (day, occurred_at, id) > ($2::date, $3::timestamptz, $4::uuid))
          order by day, occurred_at, id limit ${LOOKED_AT}) l
        left join webhook_events e on e.company_id = $1 and e.day = l.day and e.id = l.id
        order by l.day, l.occurred_at, l.id`,
      values: [person.companyId, ...place],
    });
    const shown = rows.flatMap(({ day, id, body }): Shown[] => {
      const without = body?.includes(person.id) === true ? withoutPerson(body.toString(), person) : undefined;
      return without === undefined ? [] : [{ day, id, body: Buffer.from(without) }];
    });
    if (shown.length > 0) await eraseFrom(tx, person, shown);
    const last = rows.length === LOOKED_AT ? rows.at(-1) : undefined;
    return { changed: shown.length, after: last === undefined ? null : `${last.day} ${formatInstant(last.occurred_at)} ${last.id}` };
  },
};

/** The events, what lists show of their deliveries, and what receivers answered, who may repeat what they got. */
async function eraseFrom(tx: Transaction, { companyId, kind }: ErasedPerson, shown: readonly Shown[]): Promise<void> {
  const events = [companyId, shown.map(({ day }) => day), shown.map(({ id }) => id)];
  const EVENTS = 'unnest($2::date[], $3::uuid[]) g(day, id)';
  await tx.query({
    name: 'erase_person_from_webhook_events',
    text: `update webhook_events e set body = g.body from unnest($2::date[], $3::uuid[], $4::bytea[]) g(day, id, body)
      where e.company_id = $1 and e.day = any($2::date[]) and e.day = g.day and e.id = g.id`,
    values: [...events, binaryArrays.bytea(shown.map(({ body }) => body))],
  });
  await tx.query({
    name: 'erase_person_from_webhook_attempts',
    text: `update webhook_attempts a set response_headers = '[]', response_body = $4 from ${EVENTS}, webhook_deliveries d
      where d.company_id = $1 and d.day = any($2::date[]) and d.day = g.day and d.event_id = g.id and a.day = any($2::date[]) and a.day = d.day and a.delivery_id = d.id`,
    values: [...events, Buffer.from(ERASED_PERSON)],
  });
  if (kind !== 'accounts') return;
  await tx.query({
    name: 'erase_customer_from_webhook_deliveries',
    text: `update webhook_deliveries d set customer_name = $4 from ${EVENTS}
      where d.company_id = $1 and d.day = any($2::date[]) and d.day = g.day and d.event_id = g.id and d.customer_name is not null`,
    values: [...events, ERASED_PERSON],
  });
  await tx.query({
    name: 'erase_customer_from_webhook_event_log',
    text: `update webhook_event_log l set customer_name = $4 from ${EVENTS}
      where l.company_id = $1 and l.day = any($2::date[]) and l.day = g.day and l.id = g.id and l.customer_name is not null`,
    values: [...events, ERASED_PERSON],
  });
}

export const personSteps: readonly PersonStep[] = [webhooks];
