// Kills and pauses, one after the other and some at once, as they follow from a seed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../../tools/cli/src/simulate/chance.ts';
import type { Target } from './system/target.ts';

export interface Faults {
  readonly targets: readonly Target[];
  readonly chance: Chance;
  /** How often each target is hit. */
  readonly rounds: number;
  /** Between the beginnings of two faults, in ms. */
  readonly gapMs: readonly [from: number, to: number];
  /** How long a target is away before it is started again, or goes on. */
  readonly awayMs: readonly [from: number, to: number];
  /** How many of the faults are pauses instead. */
  readonly pauses: number;
  /** How many are away at once at most; with more of them nothing would get far enough to be hit. */
  readonly atOnce: number;
  /** Waits until there is something to be hit again. */
  readonly ready?: () => Promise<void>;
  readonly say: (line: string) => void;
}

export interface FaultCount {
  kills: number;
  pauses: number;
}

/** Hits every target so many times, in a new order each round; resolves when all of them can be used again. */
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
      // The first time it is killed, whatever the seed.
      const [pause, awayFor] = [chance.happens(pauses) && round > 0, chance.between(...awayMs)];
      say(`${at()}  ${target.name} is ${pause ? 'paused' : 'killed'} for ${Math.round(awayFor)} ms`);
      const fault = hit(target, pause, awayFor).finally(() => running.delete(target.name));
      // Heard of at the latest below; an error must not go unheard meanwhile.
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
