import type { Metrics } from './metrics.ts';

/** How long things of one kind took, each of the combinations of its labels found once. */
export interface Durations {
  /** `startedAt` is of performance.now(); the values are in the order of the labels. */
  ended(startedAt: number, ...values: readonly string[]): void;
}

/** Combinations that get a series of their own; what comes after them counts as `other` in every label but the last. */
const MOST_SERIES = 500;

/**
 * A histogram of seconds for hot paths, with a bound: series cost memory here and in Prometheus. The last label says how it
 * ended (a status, an error type) and has few values.
 */
export function durations(metrics: Metrics | undefined, name: string, help: string, labels: readonly string[], buckets?: readonly number[]): Durations {
  if (metrics === undefined) return { ended: () => undefined };
  const seconds = metrics.histogram(name, help, labels, buckets);
  const series = new Map<string, { observe(seconds: number): void }>();

  function seriesOf(values: readonly string[]): { observe(seconds: number): void } {
    const full = series.size >= MOST_SERIES;
    const last = values.length - 1;
    const own = seconds.of(Object.fromEntries(labels.map((label, index) => [label, full && index < last ? 'other' : values[index]])) as Record<string, string>);
    if (!full) series.set(values.join('\0'), own);
    return own;
  }

  return {
    ended(startedAt, ...values) {
      const key = values.length === 1 ? (values[0] as string) : values.join('\0');
      (series.get(key) ?? seriesOf(values)).observe((performance.now() - startedAt) / 1000);
    },
  };
}

/** Calls of a database server of any kind: PostgreSQL and Redis are one family, as OpenTelemetry names it. */
export function databaseDurations(metrics: Metrics | undefined): Durations {
  return durations(
    metrics, 'db_client_operation_duration_seconds',
    'Statements and commands from sending to the last row, by a constant name of each; error_type is empty, an SQLSTATE, or `unavailable`',
    ['db_system_name', 'db_query_summary', 'error_type'], FEW,
  );
}

/** Requests to Kafka, by operation. */
export function kafkaDurations(metrics: Metrics | undefined): Durations {
  return durations(
    metrics, 'messaging_client_operation_duration_seconds', 'Requests to Kafka: `send` of a batch; error_type is empty or `unavailable`',
    ['messaging_operation_name', 'error_type'],
  );
}

const FEW = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
