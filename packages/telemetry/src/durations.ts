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
  // Nested maps, one level per label: a joined key would have to be built and hashed for every observation.
  const root: Branch = new Map();
  let known = 0;

  function seriesOf(values: readonly string[]): Series {
    const full = known >= MOST_SERIES;
    const named = Object.fromEntries(labels.map((label, index) => [label, full && index < last ? 'other' : values[index]])) as Record<string, string>;
    if (full) return { observe: (value) => seconds.observe(named, value) };
    const own = seconds.of(named);
    known += 1;
    let branch = root;
    for (const value of values.slice(0, last)) {
      let next = branch.get(value) as Branch | undefined;
      if (next === undefined) branch.set(value, (next = new Map()));
      branch = next;
    }
    branch.set(values[last] as string, own);
    return own;
  }

  return {
    ended(startedAt, ...values) {
      let found: Branch | Series | undefined = root;
      for (let index = 0; index <= last && found !== undefined; index += 1) found = (found as Branch).get(values[index] as string);
      ((found as Series | undefined) ?? seriesOf(values)).observe((performance.now() - startedAt) / 1000);
    },
  };
}

type Branch = Map<string, Branch | Series>;

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
