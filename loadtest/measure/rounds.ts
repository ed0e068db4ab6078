// Runs variants in rotation, so that disturbances affect all of them alike, and takes medians.
import { perEach, withCpu, type CpuMs, type Groups } from './cpu.ts';
import { runLoad, type Load, type Outcome } from './wrk.ts';

export interface Variant {
  readonly name: string;
  readonly port: number;
  readonly file: string;
  readonly groups: Groups;
  readonly encoding?: string;
}

export interface Round extends Outcome {
  /** Milliseconds per request, by group of processes. */
  readonly cpu: CpuMs;
}

export interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
  readonly cpu: CpuMs;
  /** Lowest and highest throughput of a round. */
  readonly range: readonly [number, number];
}

export interface Plan {
  readonly variants: readonly Variant[];
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

const WARM_UP_SECONDS = 3;

export async function warmUp(variants: readonly Variant[], seconds = WARM_UP_SECONDS): Promise<void> {
  for (const variant of variants) await runLoad({ ...variant, connections: 16, seconds, seed: 1 });
}

export async function measure({ variants, connections, rounds, seconds }: Plan): Promise<Map<string, Figures>> {
  const results = new Map<string, Round[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < variants.length; turn++) {
      const variant = variants[(round + turn) % variants.length] as Variant;
      results.get(variant.name)?.push(await measured(variant, { ...variant, connections, seconds, seed: 100 + round }));
    }
  }
  return new Map([...results].map(([name, list]) => [name, figuresOf(list)]));
}

async function measured({ groups }: Variant, load: Load): Promise<Round> {
  const { result, cpu } = await withCpu(groups, () => runLoad(load));
  return { ...result, cpu: perEach(cpu, result.requests) };
}

function figuresOf(rounds: readonly Round[]): Figures {
  const of = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const rates = rounds.map((round) => round.perSecond);
  const groups = Object.keys(rounds[0]?.cpu ?? {});
  return {
    perSecond: of((round) => round.perSecond),
    p50: of((round) => round.p50),
    p99: of((round) => round.p99),
    bytes: of((round) => round.bytes),
    cpu: Object.fromEntries(groups.map((name) => [name, of((round) => round.cpu[name] ?? NaN)])),
    range: [Math.min(...rates), Math.max(...rates)],
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
