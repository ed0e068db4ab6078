import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../../tools/cli/src/simulate/chance.ts';
import type { Target } from './system/target.ts';

export interface Faults {
  readonly targets: readonly Target[];
  readonly chance: Chance;
  readonly rounds: number;
  readonly gapMs: readonly [from: number, to: number];
  readonly awayMs: readonly [from: number, to: number];
  readonly pauses: number;
  /** Maximum number of targets down at the same time. With more, no work would get far enough to be interrupted. */
  readonly atOnce: number;
  readonly ready?: () => Promise<void>;
  readonly say: (line: string) => void;
}

export interface FaultCount {
  kills: number;
  pauses: number;
}

/** Hits every target `rounds` times, in a new order each round. Resolves when all of them can be used again. */
export async function injectFaults({ targets, chance, rounds, gapMs, awayMs, pauses, atOnce, ready, say }: Faults): Promise<Record<string, FaultCount>> {
  const counts = Object.fromEntries(targets.map(({ name }) => [name, { kills: 0, pauses: 0 }]));
  const running = new Map<string, Promise<void>>();
  const startedAt = performance.now();
  const at = () => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`;

  async function hit(target: Target, pause: boolean, awayFor: number): Promise<void> {
    const count = counts[target.name]!;
    if (pause) {
      target.pause();
      count.pauses += 1;
      await delay(awayFor);
      return target.resume();
    }
    await target.kill();
    count.kills += 1;
    await delay(awayFor);
    await target.start();
  }

  for (let round = 0; round < rounds; round++) {
    for (const target of shuffled(targets, chance)) {
      await delay(chance.between(...gapMs));
      while (running.size >= atOnce) await Promise.race(running.values());
      await running.get(target.name);
      await ready?.();
      // The first fault is always a kill, whatever the seed.
      const [pause, awayFor] = [chance.happens(pauses) && round > 0, chance.between(...awayMs)];
      say(`${at()}  ${target.name} is ${pause ? 'paused' : 'killed'} for ${Math.round(awayFor)} ms`);
      const fault = hit(target, pause, awayFor).finally(() => running.delete(target.name));
      // The error is rethrown when the fault is awaited below; until then it must not count as unhandled.
      fault.catch(() => undefined);
      running.set(target.name, fault);
    }
  }
  await Promise.all(running.values());
  return counts;
}

function shuffled<T>(items: readonly T[], chance: Chance): T[] {
  return items
    .map((item) => [chance.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}
