// Erases a person from webhooks that were sent or wait, and from what receivers answered (docs/adr/0024).
import { formatInstant } from '@truckroll/contract';
import type { PersonStep } from '@truckroll/erasure';
import { ERASED_PERSON, type ErasedPerson } from '@truckroll/outbox';
import { binaryArrays, type Statement, type Transaction } from '@truckroll/postgres';
import { shows, withoutPerson, type StoredBody } from './without-person.ts';

/** Rows that one transaction looks at. */
const LOOKED_AT = 200;

interface Event extends StoredBody {
  readonly day: string;
  readonly id: string;
}

interface Logged extends Event {
  readonly occurred_at: number;
}

/** Replaces bodies that show the person. Returns their number. */
async function replaceBodies(tx: Transaction, person: ErasedPerson, events: readonly Event[]): Promise<number> {
  const shown = events.flatMap((event) => {
    const { day, id } = event;
    const body = withoutPerson(event, person);
    return body === undefined ? [] : [{ day, id, body }];
  });
  if (shown.length === 0) return 0;
  await tx.query({
    name: 'erase_person_from_webhook_events',
    text: `update webhook_events e set body = g.body from unnest($2::date[], $3::uuid[], $4::bytea[]) g(day, id, body)
      where e.company_id = $1 and e.day = any($2::date[]) and e.day = g.day and e.id = g.id`,
    values: [person.companyId, shown.map(({ day }) => day), shown.map(({ id }) => id), binaryArrays.bytea(shown.map(({ body }) => body))],
  });
  return shown.length;
}

/** A step that looks through rows in an order, LOOKED_AT in a transaction, and replaces bodies. The key of a row has three parts, $2 to $4. */
function looking<Row extends Event>(
  table: string,
  read: Pick<Statement, 'name' | 'text'>,
  keyOf: (row: Row) => readonly string[],
  also: (tx: Transaction, person: ErasedPerson, rows: readonly Row[]) => Promise<{ changed: number; waits?: boolean }>,
): PersonStep {
  return {
    table,
    async next(tx, person, after) {
      const { rows } = await tx.query<Row>({ ...read, values: [person.companyId, ...(after?.split(' ') ?? [null, null, null])] });
      const bodies = await replaceBodies(tx, person, rows);
      const { changed, ...waits } = await also(tx, person, rows);
      const last = rows.length === LOOKED_AT ? rows.at(-1) : undefined;
      return { changed: bodies + changed, ...waits, after: last === undefined ? null : keyOf(last).join(' ') };
    },
  };
}

const events = looking<Logged>(
  'webhook_events',
  {
    name: 'webhook_events_to_erase_from',
    text: `select l.day::text as day, l.occurred_at, l.id, e.body, e.people from (
        select day, occurred_at, id from webhook_event_log
        where company_id = $1 and ($2::date is null or (day, occurred_at, id) > ($2::date, $3::timestamptz, $4::uuid))
        order by day, occurred_at, id limit ${LOOKED_AT}) l
      left join webhook_events e on e.company_id = $1 and e.day = l.day and e.id = l.id
      order by l.day, l.occurred_at, l.id`,
  },
  ({ day, occurred_at, id }) => [day, formatInstant(occurred_at), id],
  async (tx, person, rows) => {
    const named = person.kind === 'accounts' ? rows.filter((row) => shows(row, person)) : [];
    if (named.length === 0) return { changed: 0 };
    const { rowCount } = await tx.query({
      name: 'erase_customer_from_webhook_event_log',
      text: `update webhook_event_log l set customer_name = $5 from unnest($2::date[], $3::timestamptz[], $4::uuid[]) g(day, occurred_at, id)
        where l.company_id = $1 and l.day = any($2::date[]) and l.day = g.day and l.occurred_at = g.occurred_at and l.id = g.id and l.customer_name <> $5`,
      values: [
        person.companyId,
        named.map(({ day }) => day),
        binaryArrays.timestamptz(named.map(({ occurred_at }) => occurred_at)),
        named.map(({ id }) => id),
        ERASED_PERSON,
      ],
    });
    return { changed: rowCount };
  },
);

interface Delivered extends Event {
  readonly endpoint_id: string;
  readonly delivery_id: string;
}

/** What lists show of deliveries, and what receivers answered, who may repeat what they got. Includes tests, which are not in the log of events. */
const deliveries = looking<Delivered>(
  'webhook_deliveries',
  {
    name: 'webhook_deliveries_to_erase_from',
    text: `select d.endpoint_id, d.day::text as day, d.id as delivery_id, e.id, e.body, e.people from (
        select endpoint_id, day, id, event_id from webhook_deliveries
        where company_id = $1 and ($2::uuid is null or (endpoint_id, day, id) > ($2::uuid, $3::date, $4::uuid))
        order by endpoint_id, day, id limit ${LOOKED_AT}) d
      left join webhook_events e on e.company_id = $1 and e.day = d.day and e.id = d.event_id
      order by d.endpoint_id, d.day, d.id`,
  },
  ({ endpoint_id, day, delivery_id }) => [endpoint_id, day, delivery_id],
  async (tx, person, rows) => {
    const shown = rows.filter((row) => shows(row, person));
    if (shown.length === 0) return { changed: 0 };
    await holdReports(tx, person, shown);
    return { changed: await eraseAnswers(tx, person, shown), waits: await areSent(tx, shown) };
  },
);

/** Waits for reports that began before: what they store is seen then, and a later one finds out whether its lease has ended. */
async function holdReports(tx: Transaction, { companyId }: ErasedPerson, shown: readonly Delivered[]): Promise<void> {
  await tx.query({
    name: 'hold_deliveries_with_person',
    text: `select from webhook_deliveries d join unnest($1::date[], $2::uuid[]) g(day, id) on d.day = g.day and d.id = g.id
      where d.company_id = $3 and d.day = any($1::date[]) order by d.id for no key update of d`,
    values: [shown.map(({ day }) => day), shown.map(({ delivery_id: id }) => id), companyId],
  });
}

/** Whether a dispatcher has leased one of them, maybe with the old body: the receiver's answer is still to come. */
async function areSent(tx: Transaction, shown: readonly Delivered[]): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'sending_webhooks_with_person',
    text: 'select from webhook_queue where delivery_id = any($1::uuid[]) and leased_until > now() limit 1',
    values: [shown.map(({ delivery_id: id }) => id)],
  });
  return rowCount > 0;
}

async function eraseAnswers(tx: Transaction, { companyId, kind }: ErasedPerson, shown: readonly Delivered[]): Promise<number> {
  const places = [shown.map(({ day }) => day), shown.map(({ delivery_id: id }) => id)];
  const { rowCount: answers } = await tx.query({
    name: 'erase_person_from_webhook_attempts',
    text: `update webhook_attempts a set response_headers = '[]', response_body = $3 from unnest($1::date[], $2::uuid[]) g(day, id)
      where a.day = any($1::date[]) and a.day = g.day and a.delivery_id = g.id and (a.response_body <> $3 or a.response_headers <> '[]')`,
    values: [...places, Buffer.from(ERASED_PERSON)],
  });
  if (kind !== 'accounts') return answers;
  const { rowCount: names } = await tx.query({
    name: 'erase_customer_from_webhook_deliveries',
    text: `update webhook_deliveries d set customer_name = $4 from unnest($2::date[], $3::uuid[]) g(day, id)
      where d.company_id is not distinct from $1 and d.day = any($2::date[]) and d.day = g.day and d.id = g.id and d.customer_name <> $4`,
    values: [companyId, ...places, ERASED_PERSON],
  });
  return answers + names;
}

export const personSteps: readonly PersonStep[] = [events, deliveries];
