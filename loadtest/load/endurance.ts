// Effects that show only after a while: growing memory, leaked files, slower answers.
import { slopePerMinute, type Sample } from './usage.ts';
import type { Summary } from './verdict.ts';

export interface Endurance {
  /** Growth in MB a minute over the last three quarters, by process. */
  readonly memory: Readonly<Record<string, number>>;
  /** Growth in open files over the last three quarters, by process. */
  readonly files: Readonly<Record<string, number>>;
  /** p99 of all requests in the last quarter ÷ that of the first. */
  readonly slower: number;
  readonly faults: readonly string[];
}

const MOST_MB_A_MINUTE = 1;
const MOST_SLOWER = 1.2;
/** Allowance for files that come and go with client connections. */
const MOST_FILES = 10;
/** Processes that are not judged: caches with their own memory limits, and the generator. */
export const OTHERS = new Set(['k6', 'watcher', 'PostgreSQL', 'Kafka', 'Redis']);

export function enduranceOf(samples: readonly Sample[], { metrics }: Pick<Summary, 'metrics'>): Endurance {
  const from = (samples.at(-1)?.at ?? 0) / 4;
  const names = Object.keys(samples[0]?.memory ?? {}).filter((name) => !OTHERS.has(name));
  const later = samples.filter(({ at }) => at >= from);
  const memory = Object.fromEntries(names.map((name) => [name, slopePerMinute(later, (sample) => sample.memory[name] ?? 0)]));
  const files = Object.fromEntries(names.map((name) => [name, (later.at(-1)?.files[name] ?? 0) - (later[0]?.files[name] ?? 0)]));
  const p99 = (part: string): number => metrics[`latency_${part}`]?.values['p(99)'] ?? NaN;
  const slower = p99('late') / p99('early');
  const faults = [
    ...names
      .filter((name) => !((memory[name] ?? NaN) <= MOST_MB_A_MINUTE))
      .map((name) => `${name} grew by ${memory[name]?.toFixed(2)} MB a minute, more than ${MOST_MB_A_MINUTE}`),
    ...names.filter((name) => !((files[name] ?? NaN) <= MOST_FILES)).map((name) => `${name} had ${files[name]} files more open at the end`),
    ...(slower <= MOST_SLOWER ? [] : [`p99 of the last quarter was ${slower.toFixed(2)} times that of the first, more than ${MOST_SLOWER}`]),
  ];
  return { memory, files, slower, faults };
}
