import { drainBacklog } from '../webhooks/backlog.ts';
import { startSinks } from '../webhooks/sinks.ts';
import { startWebhooks } from '../webhooks/system.ts';
import type { Stack } from '../system/stack.ts';
import { profilingInto, see, tell } from './told.ts';

const ENDPOINTS = 40;
const WARM_UP_EVENTS = 5000;

export async function profileWebhooks(stack: Stack, folder: string, events: number): Promise<Record<string, number>> {
  const sinks = await startSinks();
  try {
    const { database, services, dispatcher, groups, create } = await startWebhooks(stack, sinks, profilingInto(folder));
    const endpoints = await create(ENDPOINTS, [sinks.urls.well]);
    const drain = (count: number) => drainBacklog(database, endpoints, sinks, count);
    await drain(WARM_UP_EVENTS);
    const { scheduling, integrations } = services.running;
    const pids = { scheduling: scheduling.pid, integrations: integrations.pid, dispatcher: dispatcher.pid };
    const seen = await see('webhook', groups, pids, async () => ({ requests: events, perSecond: await drain(events) }));
    await database.close();
    await dispatcher.stop();
    await services.stop('scheduling');
    await services.stop('integrations');
    return tell(folder, pids, seen);
  } finally {
    sinks.stop();
  }
}
