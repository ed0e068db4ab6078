// The upkeep that the service does by itself while it runs.
import { until } from '@truckroll/testing/until';
import { FAILURE, startDesk } from './webhooks.ts';

type Desk = Awaited<ReturnType<typeof startDesk>>;
type Endpoint = Awaited<ReturnType<Desk['endpoint']>>;

let desk: Desk;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterAll(() => desk.stop());

test.each<[string, (one: Endpoint) => Promise<unknown>, string]>([
  [
    'deletes audit events after 365 days',
    ({ company }) =>
      desk.sql(
        `insert into audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id)
         select $1, now() - interval '366 days', gen_random_uuid(), 'OPERATOR', 'operator', 'operator', 'x', 'x', 'x' from generate_series(1, 501)`,
        [company.id],
      ),
    `select count(*) = 0 as done from audit_events where company_id = $1 and at < now() - interval '365 days'`,
  ],
  [
    'deletes keys 30 days after they were revoked',
    async ({ company, user }) => {
      await desk.sql(
        `insert into api_keys (id, company_id, user_id, created_by_kind, name, hash, key_prefix, key_suffix, revoked_at)
         select gen_random_uuid(), $1, $2, 'USER', 'x', sha256(n::text::bytea), 'prefix__', 'last', now() - interval '31 days' from generate_series(1, 501) n`,
        [company.id, user.id],
      );
    },
    'select count(*) = 0 as done from api_keys where company_id = $1',
  ],
  [
    'e-mails about an endpoint that has failed for an hour',
    async (one) => {
      await desk.fanOut(one.event());
      for (const delivery of await desk.lease()) await desk.report(delivery, FAILURE);
      await desk.sql(`update webhook_endpoints set failing_since = now() - interval '1 hour' where id = $1`, [one.id]);
    },
    'select count(*) = 1 as done from mails where company_id = $1',
  ],
  [
    'merges counts of attempts',
    async (one) => {
      await desk.fanOut(one.event());
      for (const delivery of await desk.lease()) await desk.report(delivery);
      await desk.sql(`update webhook_counts set at = date_trunc('hour', now()) - interval '2 hours' where endpoint_id = $1`, [one.id]);
    },
    'select bool_and(minutes = 15) as done from webhook_counts where company_id = $1',
  ],
  [
    'creates the partitions of the next two days, and drops those of 31 days ago',
    async () => {
      const [{ old }] = (await desk.sql(`select to_char(now() at time zone 'UTC' - interval '31 days', 'YYYYMMDD') as old`)) as [{ old: string }];
      await desk.sql(`create table webhook_events_${old} partition of webhook_events for values from ('${old}') to ('${old}'::date + 1)`);
      const [{ ahead }] = (await desk.sql(`select to_char(now() at time zone 'UTC' + interval '2 days', 'YYYYMMDD') as ahead`)) as [{ ahead: string }];
      await until('the last partition', async () => (await desk.sql(`select from pg_class where relname = 'webhook_attempts_${ahead}'`)).length > 0);
      await desk.sql(`drop table webhook_events_${ahead}, webhook_event_log_${ahead}, webhook_deliveries_${ahead}, webhook_attempts_${ahead}`);
    },
    `select count(*) = 3 as done from generate_series(0, 2) n join pg_class c
       on c.relname = 'webhook_deliveries_' || to_char(now() at time zone 'UTC' + n * interval '1 day', 'YYYYMMDD')
     where $1::uuid is not null and not exists (
       select from pg_class where relname = 'webhook_events_' || to_char(now() at time zone 'UTC' - interval '31 days', 'YYYYMMDD'))`,
  ],
])('%s', async (_, prepare, text) => {
  const one = await desk.endpoint();
  await prepare(one);
  const isDone = async () => (await desk.sql(text, [one.company.id]))[0]!['done'] === true;
  expect(await isDone()).toBe(false);
  await desk.restart();
  await until('the upkeep', isDone);
});
