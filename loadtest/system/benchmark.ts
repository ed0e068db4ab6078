import { runMain } from '@truckroll/local-stack';
import { Stack } from './stack.ts';

export interface Benchmark {
  readonly help: string;
  /** Whether --help was given. */
  readonly asked: boolean;
  readonly database: string;
  /** Folder of the servers and their data. */
  readonly folder?: string;
  /** Throws Problem if a requirement is missing, before anything starts. */
  check?(): void;
  run(stack: Stack): Promise<Record<string, number>>;
}

/** Runs a benchmark on a new stack, closes it, and prints the figures. */
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
