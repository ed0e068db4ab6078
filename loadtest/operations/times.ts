import { perEach, withCpu, type CpuMs, type Groups } from '../measure/cpu.ts';
import { median } from '../measure/rounds.ts';
import type { Subject, Timed } from './subjects.ts';

export interface Time {
  readonly operation: string;
  readonly form: string;
  readonly subject: Subject;
  /** Median latency in ms, to the last byte, one request at a time. */
  readonly ms: number;
  readonly p90: number;
  /** Milliseconds by process; the operations of one subject share these figures. */
  readonly cpu: CpuMs;
}

export interface Plan {
  readonly groups: Groups;
  readonly times: number;
  /** Warm-up repetitions, in which V8 compiles and PostgreSQL reads its pages. */
  readonly uncounted: number;
}

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
