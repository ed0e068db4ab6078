// Loads the sides of a comparison with wrk in turn, with the CPU time of each request.
import { say } from '@truckroll/local-stack';
import { cpuText, medianCpu, perEach, totalOf, withCpu, type CpuMs, type Groups } from './cpu.ts';
import { latencyText } from './latency.ts';
import { inTurn, median } from './turns.ts';
import type { Outcome } from './wrk.ts';

export interface Side {
  /** Processes whose CPU time counts. */
  readonly groups: Groups;
  /** Prepares a round, which is not measured, and resolves to the load. */
  prepare(round: number): Promise<() => Promise<Outcome>>;
}

interface Round extends Outcome {
  /** Milliseconds per request, by group of processes. */
  readonly cpu: CpuMs;
}

/** Prints the medians of each side. */
export async function measure<Name extends string>(rounds: number, sides: Readonly<Record<Name, Side>>): Promise<Record<Name, Round[]>> {
  const measured =
    ({ groups, prepare }: Side) =>
    async (round: number): Promise<Round> => {
      const { result, cpu } = await withCpu(groups, await prepare(round));
      return { ...result, cpu: perEach(cpu, result.requests) };
    };
  const turns = Object.entries<Side>(sides).map(([name, side]) => [name, measured(side)] as const);
  const results = await inTurn(rounds, Object.fromEntries(turns) as Record<Name, ReturnType<typeof measured>>);
  for (const [name, all] of Object.entries<Round[]>(results)) {
    const of = (figure: 'perSecond' | 'p50' | 'p99' | 'bytes'): number => median(all.map((round) => round[figure]));
    const cpu = medianCpu(all);
    const latency = latencyText({ p50: of('p50'), p99: of('p99') });
    say(`${name}: ${of('perSecond').toFixed(0)}/s, ${latency}, ${(of('bytes') / 1000).toFixed(1)} kB, CPU ms ${totalOf(cpu).toFixed(2)}: ${cpuText(cpu)}`);
  }
  return results;
}
