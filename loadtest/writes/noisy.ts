// How one company's flood, two `truckroll simulate`, affects the reads of another company.
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say, type Daemon } from '@truckroll/local-stack';
import { VISITS, idOf } from '../data/visits.ts';
import { cpuText, perEach, withCpu, type Groups } from '../measure/cpu.ts';
import { latencyText } from '../measure/latency.ts';
import { median } from '../measure/rounds.ts';
import { runLoad, writeTargets } from '../measure/wrk.ts';
import { drained } from '../system/outbox.ts';
import { withClient } from '../system/postgres.ts';
import { callCredential, type Services } from '../system/programs.ts';
import type { Running, Stack } from '../system/stack.ts';
import { FOLDER } from './system.ts';

const FLOODS = 2;
const READER_CONNECTIONS = 4;
const WARM_UP_SECONDS = 5;
/** Events after which the flood has compiled its code, and the time it may take to get there. */
const FLOWING = 1000;
const BEGIN_MS = 60_000;
/** Time without an event after which a flood is over. */
const STILL_MS = 500;

export interface Noise {
  readonly stack: Stack;
  readonly gateway: Running;
  readonly services: Pick<Services, 'running'>;
  readonly groups: Groups;
  readonly floodKey: string;
  readonly readerKey: string;
  readonly rounds: number;
  readonly seconds: number;
}

export interface NoiseFigures {
  /** The reader's p99 with the flood ÷ without it, median of the rounds. */
  readonly ratio: number;
  /** Calls that scheduling rejected as unavailable (503), of either company. */
  readonly unavailable: number;
  /** Events of the flood a second. */
  readonly events: number;
}

/** Throws if any of the reader's requests is not answered with 200. */
export async function measureNoise(noise: Noise): Promise<NoiseFigures> {
  const { stack, gateway, services, readerKey, rounds, seconds, groups } = noise;
  const { scheduling } = services.running;
  const file = join(FOLDER, 'reader.targets');
  const header = ['Authorization', `Bearer ${readerKey}`] as const;
  writeTargets(
    file,
    Array.from({ length: VISITS }, (_, i) => ({ path: `/v1/job-appointments/${idOf('visit', i + 1)}`, header })),
  );
  const read = (seed: number, lasts = seconds) => runLoad({ port: gateway.port, connections: READER_CONNECTIONS, seconds: lasts, file, seed });
  await read(1, WARM_UP_SECONDS);
  const before = await counted(scheduling);
  const ratios: number[] = [];
  let flooded = 0;
  for (let round = 1; round <= rounds; round++) {
    await still(stack, scheduling);
    const { result: alone, cpu: cpuAlone } = await withCpu(groups, () => read(round));
    const flood = startFlood(noise);
    const eventsBefore = await flowing(scheduling);
    const floods = { ...groups, flood: flood.map(({ pid }) => pid as number) };
    const { result: beside, cpu } = await withCpu(floods, () => read(round)).finally(() => Promise.all(flood.map(ended)));
    const events = (await counted(scheduling)).published - eventsBefore;
    if (events === 0) throw new Error('the flood ended while it was measured');
    flooded += events;
    ratios.push(beside.p99 / alone.p99);
    say(`round ${round}, during a flood of ${(events / seconds).toFixed(0)} events/s: ${latencyText(beside)}; without it ${latencyText(alone)}`);
    say(`  CPU ms a second: ${cpuText(perEach(cpu, seconds))}; without it ${cpuText(perEach(cpuAlone, seconds))}`);
  }
  const { unavailable } = await counted(scheduling);
  return { ratio: median(ratios), unavailable: unavailable - before.unavailable, events: flooded / (rounds * seconds) };
}

/** Resolves when the flood is over. Its last requests may still be queued when its clients have ended. */
async function still(stack: Stack, scheduling: Running): Promise<void> {
  for (let before = -1, now = 0; before !== now; ) {
    await withClient(stack, (client) => drained(client, 'scheduling'));
    before = (await counted(scheduling)).published;
    await delay(STILL_MS);
    now = (await counted(scheduling)).published;
  }
}

/** The clients run at low priority, because they would be on other machines. They are direct children, so that none outlives its round. */
function startFlood({ stack, gateway, services, floodKey }: Noise): Daemon[] {
  const args = ['simulate', '--url', `http://127.0.0.1:${gateway.port}`, '--speed', '600', '--per-hour', '600', '--minutes', '1000000'];
  const address = `127.0.0.1:${services.running.scheduling.port}`;
  const env = { SCHEDULING_ADDRESS: address, CALL_CREDENTIAL: callCredential('operator'), TRUCKROLL_API_KEY: floodKey };
  return Array.from({ length: FLOODS }, (_, index) => {
    const client = stack.startClient({ name: `flood-${index + 1}`, script: 'tools/cli/src/main.ts', args, env });
    setPriority(client.pid as number, 5);
    return client;
  });
}

/** Resolves to the number of events once the flood is in full flow. */
async function flowing(scheduling: Running): Promise<number> {
  const { published } = await counted(scheduling);
  for (const until = performance.now() + BEGIN_MS; performance.now() < until; await delay(100)) {
    const now = (await counted(scheduling)).published;
    if (now >= published + FLOWING) return now;
  }
  throw new Error('truckroll simulate did not begin to flood');
}

async function ended(client: Daemon): Promise<void> {
  if (!client.running) throw new Error('truckroll simulate ended by itself: see its log');
  await client.stop();
}

async function counted({ metricsPort }: Running): Promise<{ unavailable: number; published: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const sum = (pattern: RegExp): number => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    unavailable: sum(/^rpc_server_call_duration_seconds_count\{[^}]*rpc_response_status_code="UNAVAILABLE"[^}]*\} (\d+)$/gm),
    published: sum(/^outbox_published_total(?:\{[^}]*\})? (\d+)$/gm),
  };
}
