// The upkeep that the service does by itself while it runs.
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
         values ($1, now() - interval '366 days', gen_random_uuid(), 'OPERATOR', 'operator', 'operator', 'x', 'x', 'x')`,
        [company.id],
      ),
    `select count(*) = 0 as done from audit_events where company_id = $1 and at < now() - interval '365 days'`,
  ],
  [
    'deletes keys 30 days after they were revoked',
    async ({ company, user }) => {
      const { key } = await desk.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: null });
      await desk.sql(`update api_keys set revoked_at = now() - interval '31 days' where id = $1`, [key!.id]);
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
])('%s', async (_, prepare, text) => {
  const one = await desk.endpoint();
  await prepare(one);
  const isDone = async () => (await desk.sql(text, [one.company.id]))[0]!['done'] === true;
  expect(await isDone()).toBe(false);
  await desk.restart();
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20));
});
