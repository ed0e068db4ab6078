// The tasks of one service, and what operators see of them.
import { ApiError } from '@truckroll/contract';
import type { CatchUpRun, CatchUpServiceService, StartRunsResponse } from '@truckroll/contract/gen/records/v1/catch_up';
import type { Handlers } from '@truckroll/grpc';
import type { BackgroundPart } from '@truckroll/process';
import { Runner, type RunnerOptions } from './runner.ts';
import { runsIn } from './runs.ts';
import type { Task } from './task.ts';

export class CatchUp implements BackgroundPart {
  readonly name = 'catch-up';
  readonly #runners = new Map<string, Runner>();
  readonly #options: RunnerOptions;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Adds a task before the start. The runner wakes it and checks its gate. */
  add(task: Task): Runner {
    const runner = new Runner(task, this.#options);
    this.#runners.set(task.name, runner);
    return runner;
  }

  async start(): Promise<void> {
    for (const runner of this.#runners.values()) await runner.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
  }

  handlers(): Handlers<typeof CatchUpServiceService> {
    return {
      listRuns: async () => ({ runs: (await runsIn(this.#options.database)).map((run) => ({ ...run, total: 0 })) }),
      startRuns: ({ task }, { signal }) => responses(this.#runnerOf(task).again(signal)),
    };
  }

  #runnerOf(task: string): Runner {
    const found = this.#runners.get(task);
    if (found !== undefined) return found;
    const message = `This service has ${[...this.#runners.keys()].join(', ')}.`;
    throw ApiError.invalid([{ location: 'body', field: 'task', code: 'INVALID_ENUM_VALUE', message }]);
  }
}

async function* responses(runs: AsyncIterable<CatchUpRun>): AsyncIterable<StartRunsResponse> {
  for await (const run of runs) yield { run };
}
