// An erased person goes from webhooks in pages, whatever their number, and a second round finds nothing.
import { randomUUID } from 'node:crypto';
import type { PersonStep } from '@truckroll/erasure';
import type { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase, whileOpen } from '@truckroll/testing';
import { schema } from '../src/schema.ts';
import { personSteps } from '../src/webhooks/log/erase-person.ts';
import { Partitions } from '../src/webhooks/log/partitions.ts';

const DAYS = ['2026-11-20', '2026-11-21'];
/** Events of a day: two days are five pages. */
const EVENTS = 450;
const [companyId, other, id, endpoint] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
const person = { companyId, kind: 'accounts', id };

let database: Database;
let close: () => Promise<void>;
const sql = async (text: string, ...values: unknown[]) => (await database.query<Record<string, unknown>>({ text, values })).rows;

beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
  await new Partitions(database, silentLog).ensure(DAYS);
  // The last event of a day is a test, which the log does not list.
  for (const [of, named] of [
    [companyId, id],
    [other, id],
    [companyId, randomUUID()],
  ] as const) {
    // A text with the id is no reference to the person.
    const body = JSON.stringify({ data: { account: { id: named, name: 'Ann' }, summary: `see ${id}` } });
    const events = `with events as (select d, gen_random_uuid() as event, gen_random_uuid() as delivery, n from unnest($2::date[]) d, generate_series(1, ${EVENTS}) n),
      bodies as (insert into webhook_events (day, id, company_id, type, body) select d, event, $1, 't', convert_to($3, 'UTF8') from events),
      log as (insert into webhook_event_log (day, company_id, occurred_at, id, type, subject, sequence, customer_name)
        select d, $1, d, event, 't', 's', n, 'Ann' from events where n < ${EVENTS}),
      deliveries as (insert into webhook_deliveries (day, id, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state, customer_name)
        select d, delivery, $1, $4, event, 't', 's', n, d, 'SUCCEEDED', 'Ann' from events)
      insert into webhook_attempts (day, delivery_id, company_id, lease_token, number, started_at, ended_at, succeeded, request_headers, response_headers, response_body, response_truncated)
        select d, delivery, $1, gen_random_uuid(), 1, d, d, true, '[]', '[["x", "Ann"]]', 'Ann', false from events`;
    await sql(events, of, DAYS, body, endpoint);
  }
}, 60_000);
afterAll(() => close());

let waits = false;
/** Rows that a round changed, by step. Notes whether it waits. */
async function round(of = person): Promise<Record<string, number>> {
  const changed: Record<string, number> = {};
  waits = false;
  const all = async ({ table, next }: PersonStep): Promise<void> => {
    for (let after: string | null = null, begun = false; !begun || after !== null; begun = true) {
      const stepped = await database.transaction((tx) => next(tx, of, after));
      changed[table] = (changed[table] ?? 0) + stepped.changed;
      waits ||= stepped.waits === true;
      after = stepped.after;
    }
  };
  for (const step of personSteps) await all(step);
  return changed;
}

const shown = async (table: string, column: string): Promise<unknown> =>
  sql(`select ${column} as text, count(*) from ${table} where company_id = $1 group by 1 order by 1`, companyId);
test('replaces what events, the log, deliveries and answers show of the person, and nothing of others', async () => {
  const logged = 2 * (EVENTS - 1);
  const before = await sql('select count(*) from webhook_attempts where company_id = $1 and response_body = $2', other, Buffer.from('Ann'));
  expect(await round()).toEqual({ webhook_events: 2 * logged, webhook_deliveries: 2 + 2 * (2 * EVENTS) });
  for (const [table, column] of [
    ['webhook_event_log', 'customer_name'],
    ['webhook_deliveries', 'customer_name'],
    ['webhook_attempts', `convert_from(response_body, 'UTF8')`],
    ['webhook_events', `convert_from(body, 'UTF8')::json -> 'data' -> 'account' ->> 'name'`],
  ] as const) {
    const of = table === 'webhook_event_log' ? logged : 2 * EVENTS;
    expect(await shown(table, column)).toEqual([
      { text: 'Ann', count: of },
      { text: 'Erased person', count: of },
    ]);
  }
  expect(await sql('select count(*) from webhook_attempts where company_id = $1 and response_body = $2', other, Buffer.from('Ann'))).toEqual(before);
  expect(await round()).toEqual({ webhook_events: 0, webhook_deliveries: 0 });
});

test('waits for a report that began before, and replaces its answer', async () => {
  const answer = `select convert_from(response_body, 'UTF8') as answer from webhook_attempts where day = $1::date and delivery_id = $2 order by number`;
  const [delivery] = await sql(
    `select d.day::text as day, d.id from webhook_deliveries d join webhook_events e on e.day = d.day and e.id = d.event_id
      where d.company_id = $1 and convert_from(e.body, 'UTF8')::json -> 'data' -> 'account' ->> 'id' = $2 limit 1`,
    ...[companyId, id],
  );
  const place = [delivery!['day'], delivery!['id']];
  await whileOpen(
    database,
    (tx) => tx.query({ text: 'select from webhook_deliveries where day = $1::date and id = $2 for update', values: place }),
    () => round(),
    (tx) =>
      tx.query({
        text: `insert into webhook_attempts (day, delivery_id, company_id, lease_token, number, started_at, ended_at, succeeded, request_headers,
            response_headers, response_body, response_truncated)
          values ($1::date, $2, $3, gen_random_uuid(), 2, now(), now(), true, '[]', '[]', 'Ann', false)`,
        values: [...place, companyId],
      }),
  );
  expect(await sql(answer, ...place)).toEqual([{ answer: 'Erased person' }, { answer: 'Erased person' }]);
});

test('replaces messages that name a team member in a text', async () => {
  const member = randomUUID();
  const day = DAYS[0];
  const body = JSON.stringify({ data: { direction: 'OUTBOUND', summary: 'Who comes: Bo.' } });
  const event = randomUUID();
  await sql(
    `insert into webhook_events (day, id, company_id, type, body, people) values ($1::date, $2::uuid, $3::uuid, 't', convert_to($4, 'UTF8'), $5)`,
    ...[day, event, companyId, body, `${randomUUID()} ${member}`],
  );
  await sql(
    `insert into webhook_event_log (day, company_id, occurred_at, id, type, subject, sequence) values ($1::date, $2, $1::date, $3, 't', 's', 1)`,
    ...[day, companyId, event],
  );
  expect(await round({ companyId, kind: 'team-members', id: member })).toEqual({ webhook_events: 1, webhook_deliveries: 0 });
  const [row] = await sql(`select convert_from(body, 'UTF8')::json as body from webhook_events where id = $1`, event);
  expect(row).toEqual({ body: { data: { direction: 'OUTBOUND', summary: 'Erased person' } } });
});

test.each([
  ['waits while a delivery that shows the person is being sent', id, '1 minute', true],
  ['does not wait for one that waits', id, null, false],
  ['does not wait for one whose lease is over', id, '-1 second', false],
  ['does not wait for one of another person', null, '1 minute', false],
])('%s', async (_, of, leased, expected) => {
  const text = `insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at, leased_until)
    select d.id, d.day, d.company_id, d.endpoint_id, 's', 1, now(), now() + $2::interval from webhook_deliveries d join webhook_events e on e.id = d.event_id and e.day = d.day
    where d.company_id = $1 and (convert_from(e.body, 'UTF8')::json -> 'data' -> 'account' ->> 'id' = $3) is not distinct from ($4::boolean) limit 1`;
  await sql('delete from webhook_queue');
  await sql(text, companyId, leased, id, of === id);
  await round();
  expect([waits, (await sql('select from webhook_queue')).length]).toEqual([expected, 1]);
});
