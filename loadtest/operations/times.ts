import { perEach, withCpu, type CpuMs, type Groups } from '../measure/cpu.ts';
import { median } from '../measure/rounds.ts';
import type { Subject, Timed } from './subjects.ts';

export interface Time {
  readonly operation: string;
  /** With its parameters. */
  readonly form: string;
  readonly subject: Subject;
  /** Milliseconds until the answer was read, one request at a time. */
  readonly ms: number;
  readonly p90: number;
  /** Milliseconds by process; where a subject is several operations, all of them share one account. */
  readonly cpu: CpuMs;
}

export interface Plan {
  readonly groups: Groups;
  readonly times: number;
  /** Sendings before, which compile and read what is not in memory yet. */
  readonly uncounted: number;
}

/** One row for each operation of the subject. */
export async function timesOf(subject: Subject, { groups, times, uncounted }: Plan): Promise<Time[]> {
  for (let i = 0; i < uncounted; i++) await subject.send((_, __, work) => work());
  const seen = new Map<string, { form: string; ms: number[] }>();
  const timed: Timed = async (operation, form, work) => {
    const beganAt = performance.now();
    const result = await work();
    const of = seen.get(operation) ?? { form, ms: [] };
    of.ms.push(performance.now() - beganAt);
    seen.set(operation, of);
    return result;
  };
  const { cpu } = await withCpu(groups, async () => {
    for (let i = 0; i < times; i++) await subject.send(timed);
  });
  return [...seen].map(([operation, { form, ms }]) => ({
    operation,
    form,
    subject,
    ms: median(ms),
    p90: ms.toSorted((a, b) => a - b)[Math.floor(ms.length * 0.9)] as number,
    cpu: perEach(cpu, times * seen.size),
  }));
}
