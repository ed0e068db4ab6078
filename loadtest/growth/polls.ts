// Held polls of the change feed, by their number. The same system holds more and fewer.
import { setTimeout as delay } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { say } from '@truckroll/local-stack';
import { Feed, freshness } from '../changes/feed.ts';
import { emptyCompany } from '../data/companies.ts';
import { memoryOf } from '../load/usage.ts';
import { perEach, withCpu } from '../measure/cpu.ts';
import { latencyOf } from '../measure/latency.ts';
import { inTurn } from '../measure/turns.ts';
import { groupsOf, startSystem } from '../system/programs.ts';
import { startStack, type Stack } from '../system/stack.ts';
import { newRequest } from '../webhooks/intake.ts';
import type { Options, Part, Round, Row } from './part.ts';

/** Limit of a company. */
const OF_COMPANY = 20;
/** Every poll is answered and repeated once in the time that is measured. */
const WAIT_SECONDS = 20;
/** Between two new polls, so that they do not end at the same time. */
const SPREAD_MS = 10;
const WRITES = 10;

export const polls: Part = async (options) => {
  const stack = await startStack('truckroll_growth_polls');
  try {
    return await measurePolls(stack, options);
  } finally {
    await stack.close();
  }
};

async function measurePolls(stack: Stack, { quick, rounds }: Options): Promise<Row[]> {
  const sizes = quick ? [0, 5, 40] : [0, 10, 100, 1000];
  const most = Math.max(...sizes);
  const { services, gateway } = await startSystem(stack, owners, { LOG_LEVEL: 'warn', CHANGES_PER_MINUTE: '100000000' });
  const feedOf = async (name: string) => {
    const company = emptyCompany(`growth, polls ${name}`);
    await services.operator.createCompany(company);
    return { id: company.id, feed: new Feed(gateway.port, await services.operator.keyOf(company.id)) };
  };
  const idle: Feed[] = [];
  while (idle.length * OF_COMPANY < most) idle.push((await feedOf(String(idle.length))).feed);
  const { id, feed } = await feedOf('measured');
  const groups = await groupsOf(stack, { gateway, ...services.running });
  const intake = services.channels.scheduling.client(IntakeServiceService);

  const held: (() => void)[] = [];
  /** Holds that many polls, as many as possible of each company. */
  const hold = async (count: number): Promise<void> => {
    for (const stop of held.splice(count)) stop();
    while (held.length < count) {
      held.push(await pollUntilStopped(idle[Math.floor(held.length / OF_COMPANY)] as Feed));
      await delay(SPREAD_MS);
    }
  };
  const turn = (size: number) => async (): Promise<Round> => {
    await hold(size);
    const { cpu } = await withCpu(groups, () => delay(WAIT_SECONDS * 1000));
    const memory = memoryOf(gateway.pid);
    const { p50 } = latencyOf(await freshness(feed, () => intake.recordServiceRequest(newRequest(id)), WRITES));
    say(`${size} polls: ${memory.toFixed(0)} MB, ${p50.toFixed(0)} ms from a write to the answer`);
    return { figures: { 'gateway MB': memory, 'p50 ms': p50 }, cpu: perEach(cpu, WAIT_SECONDS) };
  };
  await hold(most);
  const measured = Object.values(await inTurn(rounds, Object.fromEntries(sizes.map((size) => [`${size} polls`, turn(size)]))));
  await hold(0);
  return sizes.map((size, at) => ({ work: 'idle second', size, rounds: measured[at] ?? [] }));
}

/** Returns a function that ends the poll. Any other error ends the benchmark. */
async function pollUntilStopped(feed: Feed): Promise<() => void> {
  const stopping = new AbortController();
  let { cursor } = await feed.page('?cursor=now');
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) ({ cursor } = await feed.page(`?wait=${WAIT_SECONDS}&cursor=${cursor}`, stopping.signal));
  };
  poll().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return () => stopping.abort();
}
