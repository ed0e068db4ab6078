import type { Metrics, Series } from './metrics.ts';

/** A histogram of durations that looks up each combination of label values only once. */
export interface Durations {
  /** `startedAt` is from performance.now(); the values are in the order of the labels. */
  ended(startedAt: number, ...values: readonly string[]): void;
}

/** Buckets, in seconds, for histograms with hundreds of series: each bucket adds a time series to each of them. */
const FEW_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
/** Maximum label combinations with their own series; further ones count as `other` in every label except the last. */
const MOST_SERIES = 500;

/** A histogram of seconds for hot paths. Series are limited, as each costs memory here and in Prometheus. The last label is the outcome and has few values. */
export function durations(metrics: Metrics | undefined, name: string, help: string, labels: readonly string[], buckets?: readonly number[]): Durations {
  if (metrics === undefined) return { ended: () => undefined };
  const seconds = metrics.histogram(name, help, labels, buckets);
  const last = labels.length - 1;
  const series = new Map<string, Series>();

  function newSeries(key: string, values: readonly string[]): Series {
    const full = series.size >= MOST_SERIES;
    const named = Object.fromEntries(labels.map((label, index) => [label, full && index < last ? 'other' : values[index]])) as Record<string, string>;
    if (full) return { observe: (value) => seconds.observe(named, value) };
    const own = seconds.of(named);
    series.set(key, own);
    return own;
  }

  return {
    ended(startedAt, ...values) {
      const key = values.join('\n');
      (series.get(key) ?? newSeries(key, values)).observe((performance.now() - startedAt) / 1000);
    },
  };
}

/** Durations of database calls. PostgreSQL and Redis share a metric, as in OpenTelemetry's conventions. */
export function databaseDurations(metrics: Metrics | undefined): Durations {
  return durations(
    metrics,
    'db_client_operation_duration_seconds',
    'Statements and commands from sending to the last row, by a constant name of each; error_type is empty, an SQLSTATE, or `unavailable`',
    ['db_system_name', 'db_query_summary', 'error_type'],
    FEW_BUCKETS,
  );
}

export function kafkaDurations(metrics: Metrics | undefined): Durations {
  return durations(metrics, 'messaging_client_operation_duration_seconds', 'Requests to Kafka: `send` of a batch; error_type is empty or `unavailable`', [
    'messaging_operation_name',
    'error_type',
  ]);
}
