// The company of rows that name only an endpoint or a delivery, for publications (docs/adr/0025).
import { now } from '@truckroll/contract';
import { RecoveryInclude, WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { whileOpen } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { stepsOf } from '../../../packages/postgres/src/migration-steps.ts';
import { schema } from '../src/schema.ts';
import { FAILURE, SECOND, startDesk } from './webhooks.ts';

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

const TABLES = ['webhook_attempts', 'webhook_queue', 'webhook_recoveries', 'webhook_replays'];

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => {
  desk = await startDesk();
  await desk.sql('create table stored (name text, company_id uuid)');
  // Partitions are called after their table and day.
  await desk.sql(`create function note_stored() returns trigger language plpgsql as $$
    begin
      insert into stored values (regexp_replace(tg_table_name, '_[0-9]+$', ''), new.company_id);
      return null;
    end $$`);
  for (const table of TABLES) await desk.sql(`create trigger notes_stored after insert on ${table} for each row execute function note_stored()`);
}, 60_000);
afterEach(async () => {
  for (const table of [...TABLES, 'stored']) await desk.sql(`delete from ${table}`);
});
afterAll(() => desk.stop());

/** Distinct companies by table of the rows that were stored since the last call. */
async function stored(): Promise<Record<string, (string | null)[]>> {
  const rows = await desk.sql('with gone as (delete from stored returning *) select name, array_agg(distinct company_id) as companies from gone group by name');
  return Object.fromEntries(rows.map(({ name, companies }) => [name, companies]));
}

async function setTrigger(state: 'enable' | 'disable'): Promise<void> {
  for (const table of TABLES) await desk.sql(`alter table ${table} ${state} trigger finds_company`);
}

/** Skipped deliveries, more than one transaction queues. */
async function skip(one: Endpoint): Promise<void> {
  await desk.sql(
    `insert into webhook_deliveries (day, id, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state)
      select day, overlay(id::text placing 'ffff' || to_char(n, 'FM0000') from 29)::uuid, company_id, endpoint_id, event_id, event_type, gen_random_uuid()::text, 1,
        occurred_at + n * interval '1 millisecond', 'SKIPPED' from webhook_deliveries, generate_series(1, 2500) n where endpoint_id = $1`,
    [one.id],
  );
}

test('every statement of this release stores the company itself', async () => {
  const one = await desk.endpoint();
  const of = (...tables: string[]) => Object.fromEntries(tables.map((table) => [table, [one.company.id]]));
  await setTrigger('disable');
  try {
    await desk.fanOut(one.event({ timestamp: now() - 30 * SECOND }));
    expect(await stored()).toEqual(of('webhook_queue'));

    const [leased] = await desk.lease();
    await desk.report(leased!, FAILURE);
    expect(await stored()).toEqual(of('webhook_attempts'));

    await desk.sql('delete from webhook_queue');
    await desk.log.redeliverWebhooks({ caller: one.caller, webhook_id: one.id, delivery_ids: [leased!.delivery_id] });
    expect(await stored()).toEqual(of('webhook_queue'));

    await one.update({ state: WebhookState.DISABLED });
    await skip(one);
    await one.update({ state: WebhookState.ENABLED, resume_skipped: true });
    await until('the resumption to end', async () => (await desk.sql('select from webhook_recoveries')).length === 0);
    expect(await stored()).toEqual(of('webhook_queue', 'webhook_recoveries'));

    await desk.sql('delete from webhook_queue');
    await desk.sql(`update webhook_deliveries set state = 'SUCCEEDED' where endpoint_id = $1`, [one.id]);
    await desk.webhooks.recoverWebhook({ caller: one.caller, id: one.id, since: now() - 60 * SECOND, include: RecoveryInclude.ALL });
    await until('the recovery to end', async () => (await desk.sql('select from webhook_replays')).length === 0);
    expect(await stored()).toEqual(of('webhook_queue', 'webhook_replays'));
  } finally {
    await setTrigger('enable');
  }
}, 60_000);

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

test('rows that an older replica stores get their company, and so do those of before the migration, even while they change', async () => {
  const one = await desk.endpoint();
  await desk.fanOut(one.event());
  const [leased] = await desk.lease();
  await desk.report(leased!, FAILURE);
  const filled = TABLES.filter((table) => table !== 'webhook_attempts');
  const migration = schema.migrations.flatMap(({ migrations }) => migrations).find(({ name }) => name === '0036_companies_of_deliveries');
  const [database, other] = [desk.openDatabase(), desk.openDatabase()];
  // So that the service leaves recoveries and replays alone.
  await database.transaction(async (holding) => {
    await holding.query({ text: 'select from webhook_endpoints where id = $1 for no key update', values: [one.id] });
    await storeAsBefore(one.id);
    expect(await stored()).toEqual(Object.fromEntries(TABLES.map((table) => [table, [one.company.id]])));

    for (const table of filled) {
      await desk.sql(`update ${table} set company_id = null`);
      const [step] = stepsOf(migration!.sql).filter((sql) => sql.startsWith(`update ${table} `));
      const change = `update ${table} set endpoint_id = endpoint_id`;
      await whileOpen(
        other,
        (tx) => tx.query({ text: change }),
        () => desk.sql(step!),
      );
      expect(await desk.sql(`select distinct company_id from ${table}`)).toEqual([{ company_id: one.company.id }]);
    }
  });
});
