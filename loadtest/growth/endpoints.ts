// Webhooks, by the number of endpoints: each event goes to one of them. Each number runs in a separate system.
import { setTimeout as delay } from 'node:timers/promises';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { say } from '@truckroll/local-stack';
import { perEach, withCpu, type Groups } from '../measure/cpu.ts';
import { latencyOf } from '../measure/latency.ts';
import { inTurn } from '../measure/turns.ts';
import { startStack, type Stack } from '../system/stack.ts';
import { newRequest, record } from '../webhooks/intake.ts';
import { startSinks, type Sinks } from '../webhooks/sinks.ts';
import { createCompany, startWebhooks } from '../webhooks/system.ts';
import type { Part, Round } from './part.ts';

/** Default limit of a company. */
const OF_COMPANY = 100;
const COMPANIES_AT_ONCE = 8;
/** Rounds of warming up: V8 has compiled the dispatcher after some 20,000 events. */
const WARM_UPS = 2;
const IDLE_SECONDS = 20;

export const endpoints: Part = async ({ quick, rounds }) => {
  const sizes = quick ? [1, 120] : [1, 100, 10_000];
  const events = quick ? 500 : 10_000;
  const sinks = await startSinks();
  const stacks: Stack[] = [];
  try {
    const systems: System[] = [];
    for (const size of sizes) {
      const stack = await startStack(`truckroll_growth_endpoints_${size}`);
      stacks.push(stack);
      systems.push(await start(stack, sinks, size));
    }
    const inTurnOf = (times: number) => inTurn(times, Object.fromEntries(systems.map((system) => [`of ${system.size}`, () => deliver(system, sinks, events)])));
    await inTurnOf(WARM_UPS);
    const deliveries = Object.values(await inTurnOf(rounds));
    // At the same time: idle systems hardly disturb each other.
    const idles: Round[][] = [];
    for (let round = 0; round < rounds; round++) idles.push(await Promise.all(systems.map(idle)));
    return [
      ...sizes.map((size, at) => ({ work: 'event', size, rounds: deliveries[at] ?? [] })),
      ...sizes.map((size, at) => ({ work: 'idle second', size, rounds: idles.map((round) => round[at] as Round) })),
    ];
  } finally {
    sinks.stop();
    for (const stack of stacks) await stack.close();
  }
};

type System = Awaited<ReturnType<typeof start>>;

/** An endpoint's filter lets an event through that names the endpoint's place in its company. */
async function start(stack: Stack, sinks: Sinks, size: number) {
  const { database, services, groups } = await startWebhooks(stack, sinks);
  await database.close();
  const all: { companyId: string; place: number }[] = [];
  const creator = async (): Promise<void> => {
    for (let left = size - claimed; left > 0; left = size - claimed) {
      const count = Math.min(left, OF_COMPANY);
      claimed += count;
      const urls = new Array<string>(count).fill(sinks.urls.well);
      const created = await createCompany(services.channels.integrations, urls, (place) => JSON.stringify({ contact_name: { $eq: String(place) } }));
      all.push(...created.map(({ companyId }, place) => ({ companyId, place })));
    }
  };
  let claimed = 0;
  say(`Creating ${size} endpoints …`);
  await Promise.all(Array.from({ length: COMPANIES_AT_ONCE }, creator));
  // Companies take turns, so that a batch has events of many.
  const inTurnOfCompanies = all.toSorted((one, other) => one.place - other.place);
  const { receivers: _, ...counted } = groups;
  return { size, endpoints: inTurnOfCompanies, groups: counted as Groups, intake: services.channels.scheduling.client(IntakeServiceService) };
}

async function deliver({ size, endpoints: all, groups, intake }: System, sinks: Sinks, events: number): Promise<Round> {
  sinks.take();
  const startedAt = performance.now();
  const { cpu } = await withCpu(groups, async () => {
    await record(intake, all, events, ({ companyId, place }) => ({ ...newRequest(companyId), contact_name: String(place) }));
    await sinks.until(events);
  });
  const perSecond = events / ((performance.now() - startedAt) / 1000);
  const { p50 } = latencyOf(sinks.take().map((micros) => micros / 1000));
  say(`${size} endpoints: ${Math.round(perSecond)} events a second`);
  return { figures: { 'a second': perSecond, 'p50 ms': p50 }, cpu: perEach(cpu, events) };
}

async function idle({ groups }: System): Promise<Round> {
  const { cpu } = await withCpu(groups, () => delay(IDLE_SECONDS * 1000));
  return { figures: {}, cpu: perEach(cpu, IDLE_SECONDS) };
}
