import { runMain } from '@truckroll/local-stack';
import { Stack } from './stack.ts';

export interface Benchmark {
  readonly help: string;
  readonly asked: boolean;
  readonly database: string;
  readonly folder?: string;
  /** Throws Problem if a requirement is missing, before anything starts. */
  check?(): void;
  run(stack: Stack): Promise<Record<string, number>>;
}

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
