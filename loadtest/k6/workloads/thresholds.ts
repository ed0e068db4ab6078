import type { Operation } from '../scenarios/api.ts';

export interface Slo {
  readonly objectives: readonly { readonly name: string; readonly target: number; readonly withinMs?: number }[];
  readonly load: { readonly operations: Readonly<Record<Operation, string>> };
}

export interface Threshold {
  /** Limit of the 99th percentile, in ms. */
  readonly p99: number;
  /** Maximum share of requests that may fail. */
  readonly errors: number;
}

/** Throws if slo.json names no objective for the operation. */
export function thresholdOf({ objectives, load }: Slo, operation: Operation): Threshold {
  const objective = objectives.find(({ name }) => name === load.operations[operation]);
  const availability = objectives.find(({ name }) => name === 'availability');
  if (objective?.withinMs === undefined || availability === undefined) throw new Error(`slo.json has no objective for ${operation}`);
  // The objectives promise a share of 99 %, which is what a 99th percentile measures.
  if (objective.target !== 0.99) throw new Error(`the objective ${objective.name} promises ${objective.target}, and load is judged by p99`);
  return { p99: objective.withinMs, errors: Number((1 - availability.target).toPrecision(6)) };
}

/** A threshold also makes k6 report the operation's own metrics. */
export function k6Thresholds(slo: Slo, operations: readonly Operation[], { times, aborts }: { times: boolean; aborts: boolean }): Record<string, unknown[]> {
  const abort = aborts ? { abortOnFail: true, delayAbortEval: '5s' } : {};
  const all: Record<string, unknown[]> = {};
  for (const operation of operations) {
    const { p99, errors } = thresholdOf(slo, operation);
    all[`latency{op:${operation}}`] = [{ threshold: times ? `p(99)<=${p99}` : 'max>=0', ...(times ? abort : {}) }];
    all[`errors{op:${operation}}`] = [{ threshold: times ? `rate<=${errors}` : 'rate==0', ...abort }];
    all[`shed{op:${operation}}`] = [{ threshold: 'rate>=0' }];
    all[`answered{op:${operation}}`] = [{ threshold: 'count>=0' }];
  }
  return all;
}
