// Webhooks: service requests recorded by one call each, as fast as possible, until the receiver has an event for each; a backlog of them,
// which has become due while the dispatcher was stopped; and receipts at a rate below full speed.
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { latencyOf } from '../measure/latency.ts';
import { measureIntake, measureStream, record } from '../webhooks/intake.ts';
import { startSinks } from '../webhooks/sinks.ts';
import { startWebhooks } from '../webhooks/system.ts';
import type { Stack } from '../system/stack.ts';
import type { StartLoad } from './load.ts';

const ENDPOINTS = 20;
const EVENTS = 10_000;
const QUICK = 1000;
/** Rounds of warming up: V8 has compiled the dispatcher after some 20,000 events. */
const WARM_UPS = 2;

export const webhooks: StartLoad = async (stack, { quick }) => {
  const { intake, endpoints, sinks, groups } = await start(stack);
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

export const backlog: StartLoad = async (stack, { quick }) => {
  const { intake, endpoints, sinks, groups, dispatcher } = await start(stack);
  const events = quick ? QUICK : EVENTS;
  // Stopped for a few seconds: less than Kafka and the leases of deliveries allow.
  const prepare = async () => {
    const resume = () => process.kill(dispatcher.pid, 'SIGCONT');
    sinks.take();
    process.kill(dispatcher.pid, 'SIGSTOP');
    await record(intake, endpoints, events).catch((error: unknown) => {
      resume();
      throw error;
    });
    return async () => {
      const startedAt = performance.now();
      resume();
      await sinks.until(events);
      return { operations: events, perSecond: events / ((performance.now() - startedAt) / 1000) };
    };
  };
  return {
    groups,
    async warmUp() {
      for (let n = 0; n < WARM_UPS; n++) await (await prepare())();
    },
    prepare,
  };
};

export const receipts: StartLoad = async (stack, { rate, seconds }) => {
  const { intake, endpoints, sinks, groups } = await start(stack);
  const stream = (lasts: number) => measureStream({ intake, sinks, measured: endpoints, others: [], rate, seconds: lasts });
  return {
    groups,
    async warmUp() {
      for (let n = 0; n < WARM_UPS; n++) await stream(seconds);
    },
    prepare: async () => async () => ({ operations: rate * seconds, ...(await stream(seconds)) }),
  };
};

async function start(stack: Stack) {
  const sinks = await startSinks();
  process.once('exit', () => sinks.stop());
  const { services, groups, create, dispatcher } = await startWebhooks(stack, sinks);
  const endpoints = await create(ENDPOINTS, [sinks.urls.well]);
  return { intake: services.channels.scheduling.client(IntakeServiceService), endpoints, sinks, groups, dispatcher };
}
