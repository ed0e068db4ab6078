import { join } from 'node:path';
import type { Watchdog } from '../processes/watchdog.ts';
import type { Say } from '../say.ts';
import { LogWatch } from './log-watch.ts';
import type { ProcessPlan } from './plan.ts';
import { Supervised } from './supervised.ts';

export interface SystemOptions {
  readonly processes: readonly ProcessPlan[];
  readonly state: string;
  readonly watchdog: Watchdog;
  readonly say: Say;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts when the processes must no longer be restarted. */
  readonly signal: AbortSignal;
}

export interface System {
  /** Resolves when every process has been ready; rejects when one keeps ending before that. */
  readonly ready: Promise<unknown>;
  /** Announces Kafka's address once it is usable, and restarts processes that were given another one. Resolves when all use it. */
  kafkaIsAt(brokers: string): Promise<void>;
  /** Restarts a process with another script, built from what was changed at `changedAt`. Resolves when it is ready again, or restarted once more. */
  replace(name: string, script: string, changedAt: number): Promise<void>;
}

/** Keeps the processes running and shows their warnings. Holds warnings back until Kafka is up, then drops those about Kafka. */
export function runSystem({ processes, state, watchdog, say, environment, signal }: SystemOptions): System {
  let early: string[] | undefined = [];
  const release = (): void => {
    const held = early ?? [];
    early = undefined;
    for (const line of held) if (!line.includes('Kafka')) say(line);
  };
  const sayLater: Say = (line) => (early === undefined ? say(line) : void early.push(line));
  const supervised = processes.map((plan) => new Supervised({ plan, logs: join(state, 'logs'), watchdog, say, environment }));
  const named = (name: string): Supervised | undefined => supervised.find((one) => one.name === name);
  const watches = supervised.map((one) => new LogWatch(one.name, one.log, sayLater));
  signal.addEventListener('abort', () => {
    for (const one of supervised) one.release();
    for (const watch of watches) watch.stop();
    release();
  });
  return {
    ready: Promise.all(supervised.map((one) => one.ready)),
    async kafkaIsAt(brokers) {
      for (const watch of watches) watch.look();
      release();
      const misled = processes.filter(({ environment }) => ![undefined, brokers].includes(environment['KAFKA_BROKERS']));
      await Promise.all(misled.map(async ({ name, environment }) => await named(name)?.change({ environment: { ...environment, KAFKA_BROKERS: brokers } })));
    },
    async replace(name, script, changedAt) {
      await named(name)?.change({ script }, changedAt);
    },
  };
}
