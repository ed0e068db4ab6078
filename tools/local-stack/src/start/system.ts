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
  /** Without the settings of the plans. */
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts when the processes are no longer to be kept up. */
  readonly signal: AbortSignal;
}

export interface System {
  /** Resolves when every process has been ready, rejects when one keeps ending before that. */
  readonly ready: Promise<unknown>;
  /**
   * Kafka can be used, at this address: another than the processes were told where it lost its port to somebody else. Resolves when
   * all know of it.
   */
  kafkaIsAt(brokers: string): Promise<void>;
}

/** Keeps the processes up, and shows what they warn of. They may start before Kafka: until it is there, nobody hears that it is not. */
export function runSystem({ processes, state, watchdog, say, environment, signal }: SystemOptions): System {
  let early: string[] | undefined = [];
  const release = (): void => {
    const held = early ?? [];
    early = undefined;
    for (const line of held) if (!line.includes('Kafka')) say(line);
  };
  const tell: Say = (line) => (early === undefined ? say(line) : void early.push(line));
  const supervised = processes.map((plan) => new Supervised({ plan, logs: join(state, 'logs'), watchdog, say, environment }));
  const watches = supervised.map((one) => new LogWatch(one.name, one.log, tell));
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
      const misled = supervised.filter((_, i) => ![undefined, brokers].includes(processes[i]?.environment['KAFKA_BROKERS']));
      await Promise.all(misled.map((one) => one.change({ KAFKA_BROKERS: brokers })));
    },
  };
}
