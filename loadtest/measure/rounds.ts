// Loads variants with wrk in turn, and prints their figures.
import { cpuText, perEach, totalOf, withCpu, type CpuMs, type Groups } from './cpu.ts';
import { table } from './report.ts';
import { inTurn, median } from './turns.ts';
import { runLoad, type Outcome } from './wrk.ts';

export interface Variant {
  readonly name: string;
  readonly port: number;
  readonly file: string;
  readonly groups: Groups;
}

interface Round extends Outcome {
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

interface Plan {
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
  const side = (variant: Variant) => async (round: number) => {
    const { result, cpu } = await withCpu(variant.groups, () => runLoad({ ...variant, connections, seconds, seed: 100 + round }));
    return { ...result, cpu: perEach(cpu, result.requests) };
  };
  const results = await inTurn(rounds, Object.fromEntries(variants.map((variant) => [variant.name, side(variant)])));
  return new Map(Object.entries(results).map(([name, list]) => [name, figuresOf(list)]));
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

const HEAD = ['', 'req/s', '÷ first', 'range', 'p50 ms', '÷ first', 'p99 ms', 'kB', 'CPU ms', 'of which'];

export function figuresTable(figures: ReadonlyMap<string, Figures>): string {
  const [first] = figures.values();
  const rows = [...figures].map(([name, { perSecond, p50, p99, bytes, cpu, range }]) => [
    name,
    perSecond.toFixed(0),
    (perSecond / (first?.perSecond ?? NaN)).toFixed(2),
    range.map((value) => value.toFixed(0)).join('–'),
    p50.toFixed(2),
    (p50 / (first?.p50 ?? NaN)).toFixed(2),
    p99.toFixed(2),
    (bytes / 1000).toFixed(1),
    totalOf(cpu).toFixed(2),
    cpuText(cpu),
  ]);
  return table(HEAD, rows);
}
