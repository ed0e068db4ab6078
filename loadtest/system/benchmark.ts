import { runMain } from '@truckroll/local-stack';
import { Stack } from './stack.ts';

export interface Benchmark {
  readonly help: string;
  /** Whether the help is asked for. */
  readonly asked: boolean;
  readonly database: string;
  /** Of the servers and their data. */
  readonly folder?: string;
  /** Throws Problem where something is missing, before anything is started. */
  check?(): void;
  run(stack: Stack): Promise<Record<string, number>>;
}

/** Runs a benchmark on a stack that ends with it, and prints its figures. */
export function runBenchmark({ help, asked, database, folder, check, run }: Benchmark): Promise<void> {
  return runMain(async () => {
    if (asked) {
      process.stdout.write(help);
      return 0;
    }
    check?.();
    const stack = await Stack.start(database, folder);
    try {
      process.stdout.write(`figures: ${JSON.stringify(await run(stack))}\n`);
      return 0;
    } finally {
      await stack.close();
    }
  });
}
