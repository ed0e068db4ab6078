// Which process is killed at which step: a move with kills has one at each step, and the next such move takes the next process.
import { setTimeout as delay } from 'node:timers/promises';
import type { Say } from '@truckroll/local-stack';
import type { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import type { Target } from '../../faults/system/target.ts';

export const STEPS = ['copying', 'following', 'closing', 'opening', 'clearing', 'deleting'] as const;
export type Step = (typeof STEPS)[number];

/** Time in ms from the beginning of a step until the kill, and until the process is started again. */
const [AFTER_MS, AWAY_MS] = [
  [0, 600],
  [50, 1500],
] as const;

const THE_COMMAND = 'the command';

export class Kills {
  readonly #order: ReadonlyMap<Step, readonly string[]>;
  readonly #running = new Set<Promise<void>>();
  readonly #options: KillOptions;
  count = 0;

  constructor(options: KillOptions) {
    this.#options = options;
    const names = [...options.targets.keys(), THE_COMMAND];
    this.#order = new Map(STEPS.map((step) => [step, shuffled(names, options.chance)]));
  }

  /** Kills what is next at this step, a moment later. */
  begin(step: Step, round: number): void {
    const { chance } = this.#options;
    const names = this.#order.get(step)!;
    const killing = this.#kill(names[round % names.length]!, step, chance.between(...AFTER_MS), chance.between(...AWAY_MS));
    this.#running.add(killing);
    // The error is rethrown by `ended`.
    killing.then(
      () => this.#running.delete(killing),
      () => undefined,
    );
  }

  /** Resolves when everything that was killed is ready again. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #kill(name: string, step: Step, afterMs: number, awayMs: number): Promise<void> {
    const { targets, command, say } = this.#options;
    await delay(afterMs);
    say(`    ${step}: ${name} is killed for ${Math.round(awayMs)} ms`);
    this.count += 1;
    const target = targets.get(name);
    if (target === undefined) return command.kill();
    await target.kill();
    await delay(awayMs);
    await target.start();
  }
}

export interface KillOptions {
  readonly targets: ReadonlyMap<string, Target>;
  readonly command: { kill(): void };
  readonly chance: Chance;
  readonly say: Say;
}

function shuffled(names: readonly string[], chance: Chance): string[] {
  return names
    .map((name) => [chance.next(), name] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, name]) => name);
}
