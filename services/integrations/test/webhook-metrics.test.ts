import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { webhookMetrics } from '../src/webhooks/health/metrics.ts';
import { FAILURE, startDesk } from './webhooks.ts';

type Desk = Awaited<ReturnType<typeof startDesk>>;
type Endpoint = Awaited<ReturnType<Desk['endpoint']>>;

let desk: Desk;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterAll(() => desk.stop());

/** The gauges by name and the values of their labels, without zeros. */
async function measured(): Promise<Record<string, number>> {
  const metrics = createMetrics('trial');
  const part = webhookMetrics(desk.openDatabase(), silentLog, metrics);
  await part.start();
  // It waits for the measurement under way.
  await part.stop();
  const lines = (await metrics.render()).body.split('\n').filter((line) => line.startsWith('webhook_'));
  return Object.fromEntries(
    lines.flatMap((line): [string, number][] => {
      const labels = [...line.matchAll(/(?:endpoints|state)="(\w+)"/g)].map(([, value]) => value);
      const value = Number(line.split(' ').at(-1));
      return value === 0 ? [] : [[[line.replace(/\{.*/, ''), ...labels].join(' '), value]];
    }),
  );
}

test('counts deliveries by the condition of their endpoint and by state, and endpoints that are not deleted', async () => {
  const [well, limited, failing, paused, off, deleted] = (await Promise.all(
    [{}, { max_per_second: 100 }, {}, {}, {}, {}].map((fields) => desk.endpoint(fields)),
  )) as [Endpoint, Endpoint, Endpoint, Endpoint, Endpoint, Endpoint];
  const queue = (one: Endpoint, count: number) => desk.fanOut(...Array.from({ length: count }, () => one.event()));
  const due = (one: Endpoint, at: string) => desk.sql(`update webhook_queue set due_at = now() ${at} where endpoint_id = $1`, [one.id]);
  await queue(failing, 2);
  for (const delivery of await desk.lease()) await desk.report(delivery, FAILURE);
  await due(failing, `+ interval '1 hour'`);
  await queue(well, 3);
  expect(await desk.lease()).toHaveLength(3);
  // A leased delivery was due when it was leased.
  await due(well, `- interval '2 hours'`);
  await queue(limited, 2);
  await due(limited, `- interval '1 hour'`);
  await queue(paused, 1);
  await paused.update({ state: WebhookState.PAUSED });
  await off.update({ enabled: false });
  // The first condition that applies counts: disabled, paused, failing, limited.
  await desk.sql('update webhook_endpoints set max_per_second = 5 where id = any($1)', [[failing.id, paused.id, off.id]]);
  await desk.sql('update webhook_endpoints set failing_since = now() where id = any($1)', [[paused.id, off.id]]);
  await desk.webhooks.deleteWebhook({ caller: deleted.caller, id: deleted.id });
  const { 'webhook_backlog_oldest_seconds limited': age, 'webhook_backlog_oldest_seconds paused': _, ...counts } = await measured();
  expect(Math.floor(age! / 60)).toBe(60);
  expect(counts).toEqual({
    'webhook_backlog well under_way': 3,
    'webhook_backlog limited due': 2,
    'webhook_backlog failing retrying': 2,
    'webhook_backlog paused due': 1,
    'webhook_endpoints well': 2,
    'webhook_endpoints failing': 1,
    'webhook_endpoints paused': 1,
    'webhook_endpoints disabled': 1,
  });
});
