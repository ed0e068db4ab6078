// The command line of a benchmark: reads its options, starts what it needs, and prints its figures.
import { parseArgs } from 'node:util';
import { Problem, runMain } from '@truckroll/local-stack';
import { startStack, type Stack } from './stack.ts';

export type Figures = Record<string, number>;

interface CommandLine<Name extends string, Part extends string> {
  readonly help: string;
  /** Defaults of the options that are numbers: one, or one for a full run and one for --quick. */
  readonly numbers: Readonly<Record<Name, number | readonly [full: number, quick: number]>>;
  /** Values of --only. */
  readonly parts?: readonly Part[];
  readonly linuxOnly?: boolean;
}

export type BenchmarkOptions<Name extends string, Part extends string = never> = Readonly<Record<Name, number>> & {
  readonly quick: boolean;
  readonly only: Part | undefined;
};

interface Command<Name extends string, Part extends string> extends CommandLine<Name, Part> {
  run(options: NoInfer<BenchmarkOptions<Name, Part>>): Promise<Figures>;
}

interface Benchmark<Name extends string, Part extends string> extends CommandLine<Name, Part> {
  /** Its servers have a folder of the same name, so that it never meets the events of another benchmark. */
  database(options: NoInfer<BenchmarkOptions<Name, Part>>): string;
  /** Throws Problem if a requirement is missing, before anything starts. */
  check?(): void;
  run(stack: Stack, options: NoInfer<BenchmarkOptions<Name, Part>>): Promise<Figures>;
}

export function runCommand<Name extends string, Part extends string = never>({ run, ...line }: Command<Name, Part>): Promise<void> {
  return runMain(async () => {
    const options = optionsOf(line);
    process.stdout.write(options === undefined ? line.help : `figures: ${JSON.stringify(await run(options))}\n`);
    return 0;
  });
}

export function runBenchmark<Name extends string, Part extends string = never>({ database, check, run, ...line }: Benchmark<Name, Part>): Promise<void> {
  return runCommand<Name, Part>({
    ...line,
    async run(options) {
      check?.();
      const stack = await startStack(database(options));
      try {
        return await run(stack, options);
      } finally {
        await stack.close();
      }
    },
  });
}

/** Undefined if --help is given. Throws Problem if an option or its value is unknown. */
function optionsOf<Name extends string, Part extends string>(line: CommandLine<Name, Part>): BenchmarkOptions<Name, Part> | undefined {
  const names = Object.keys(line.numbers) as Name[];
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { ...Object.fromEntries([...names, 'only'].map((name) => [name, text])), quick: flag, help: flag } });
  const { quick, help, only, ...texts } = values as { quick: boolean; help: boolean; only?: string };
  if (help) return undefined;
  if (line.linuxOnly === true && process.platform !== 'linux') throw new Problem('This benchmark reads what Linux accounts of processes: run it there.');
  if (only !== undefined && !line.parts?.some((part) => part === only))
    throw new Problem(`--only ${only} is not known: give ${line.parts?.join(', ') ?? 'no --only'}.`);
  const numbers = names.map((name) => {
    const fallback = line.numbers[name];
    const given = positive(name, (texts as Readonly<Record<string, string | undefined>>)[name]);
    return [name, given ?? (typeof fallback === 'number' ? fallback : fallback[quick ? 1 : 0])] as const;
  });
  return { ...Object.fromEntries(numbers), quick, only } as unknown as BenchmarkOptions<Name, Part>;
}

/** The value of an option; undefined if it is not given. Throws Problem unless it is a number above 0. */
export function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new Problem(`--${name} must be a number above 0, not ${text}.`);
  return value;
}
