// The company of rows that name only an endpoint or a delivery, for publications (docs/adr/0025).
import { stepsOf } from '../../../packages/postgres/src/migration-steps.ts';
import { schema } from '../src/schema.ts';
import { FAILURE, startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => {
  desk = await startDesk();
}, 60_000);
afterAll(() => desk.stop());

const TABLES = ['webhook_queue', 'webhook_attempts', 'webhook_recoveries', 'webhook_replays'];

/** Distinct companies by table. */
async function companies(): Promise<Record<string, (string | null)[]>> {
  const all = TABLES.map(async (table) => {
    const rows = await desk.sql(`select distinct company_id from ${table}`);
    return [table, rows.map((row) => row['company_id'] as string | null)] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

/** Rows as release 1.3.0 stores them, which knows no company. */
async function storeAsBefore(endpoint: string): Promise<void> {
  await desk.sql(`insert into webhook_queue (delivery_id, day, endpoint_id, subject, sequence, due_at)
    select gen_random_uuid(), day, endpoint_id, subject, sequence + 1, now() from webhook_queue`);
  await desk.sql(`insert into webhook_attempts (day, delivery_id, lease_token, number, started_at, ended_at, succeeded, request_headers, response_headers,
      response_body, response_truncated)
    select day, delivery_id, gen_random_uuid(), 2, now(), now(), true, '[]', '[]', '', false from webhook_attempts`);
  await desk.sql('insert into webhook_recoveries (endpoint_id, since, until) values ($1, now(), now())', [endpoint]);
  await desk.sql('insert into webhook_replays (endpoint_id, since, until, delivered) values ($1, now(), now(), true)', [endpoint]);
}

test('rows that an older replica stores get their company, and so do those of before the migration', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [leased] = await desk.lease();
  await desk.report(leased!, FAILURE);
  await storeAsBefore(one.id);
  const filled = Object.fromEntries(TABLES.map((table) => [table, [one.company.id]]));
  expect(await companies()).toEqual(filled);

  const stored = TABLES.filter((table) => table !== 'webhook_attempts');
  for (const table of stored) await desk.sql(`update ${table} set company_id = null`);
  const migration = schema.migrations.flatMap(({ migrations }) => migrations).find(({ name }) => name === '0030_companies_of_deliveries');
  for (const step of stepsOf(migration!.sql)) await desk.sql(step);
  expect(await companies()).toEqual(filled);
});
