// Webhooks: service requests recorded by one call each, as fast as possible, until the receiver has an event for each.
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { latencyOf } from '../measure/latency.ts';
import { measureIntake } from '../webhooks/intake.ts';
import { startSinks } from '../webhooks/sinks.ts';
import { startWebhooks } from '../webhooks/system.ts';
import type { StartLoad } from './load.ts';

const ENDPOINTS = 20;
const EVENTS = 10_000;
const QUICK = 1000;
/** Rounds of warming up: V8 has compiled the dispatcher after some 20,000 events. */
const WARM_UPS = 2;

export const webhooks: StartLoad = async (stack, { quick }) => {
  const sinks = await startSinks();
  process.once('exit', () => sinks.stop());
  const { services, groups, create } = await startWebhooks(stack, sinks);
  const endpoints = await create(ENDPOINTS, [sinks.urls.well]);
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const events = quick ? QUICK : EVENTS;
  const send = async () => {
    const startedAt = performance.now();
    await measureIntake(intake, endpoints, sinks, events);
    const perSecond = events / ((performance.now() - startedAt) / 1000);
    const { p50 } = latencyOf(sinks.take().map((micros) => micros / 1000));
    return { operations: events, perSecond, p50 };
  };
  return {
    groups,
    async warmUp() {
      for (let n = 0; n < WARM_UPS; n++) await send();
    },
    prepare: async () => send,
  };
};
