import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Build } from './build.ts';

/** Seconds; from cached reads (well under a millisecond) to the default deadline. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Interval at which the lag of the event loop is sampled: a shorter one takes most of an idle process's CPU time. Longer stalls show. */
const EVENT_LOOP_MS = 200;
/** Gauges that prom-client names like counters; `promtool check metrics` rightly rejects them. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export interface CounterMetric<L extends string> {
  inc(labels: Record<L, string>, by?: number): void;
}
export interface GaugeMetric<L extends string> {
  set(labels: Record<L, string>, value: number): void;
}
export interface HistogramMetric<L extends string> {
  observe(labels: Record<L, string>, seconds: number): void;
  /** An observer for fixed labels that does not look up their series at every observation: for hot paths. */
  of(labels: Record<L, string>): Series;
}
/** The series of a histogram with the same label values. */
export interface Series {
  observe(seconds: number): void;
}

export interface MetricDescription {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Without `component`, which all metrics have. */
  readonly labels: readonly string[];
  readonly help: string;
}

/**
 * A component's Prometheus registry. Requesting a name again returns the same metric. Names and labels follow OpenTelemetry's semantic
 * conventions if they exist (dots as underscores); base units, `_total` for counters. A label must have few values, never client input.
 * docs/reference/metrics.md lists all metrics, generated from the code.
 */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): CounterMetric<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): GaugeMetric<L>;
  /** A gauge whose value is read at every scrape. */
  observedGauge(name: string, help: string, read: () => number): void;
  histogram<L extends string = never>(name: string, help: string, labels?: readonly L[], buckets?: readonly number[]): HistogramMetric<L>;
  /** Metrics of this process: event loop, heap, garbage collection and build. Call once per process. */
  watchProcess(build: Build): void;
  describe(): readonly MetricDescription[];
  render(): Promise<{ contentType: string; body: string }>;
}

/** `component` labels every series: `gateway`, `billing` … Not `service` or `job`, which Prometheus itself sets on Kubernetes. */
export function createMetrics(component: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ component });
  const registers = [registry];

  function once<M>(name: string, create: () => M): M {
    return (registry.getSingleMetric(name) as M | undefined) ?? create();
  }

  return {
    counter(name, help, labels = []) {
      const metric = once(name, () => new Counter({ name, help, labelNames: labels, registers }));
      return { inc: (values, by = 1) => metric.inc(values, by) };
    },
    gauge(name, help, labels = []) {
      const metric = once(name, () => new Gauge({ name, help, labelNames: labels, registers }));
      return { set: (values, value) => metric.set(values, value) };
    },
    observedGauge(name, help, read) {
      registry.removeSingleMetric(name);
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    histogram(name, help, labels = [], buckets = LATENCY_BUCKETS) {
      const metric = once(name, () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }));
      const bounds = buckets.map((seconds): Bound => [seconds, String(seconds)]);
      return { observe: (values, seconds) => metric.observe(values, seconds), of: (values) => seriesOf(metric, values, bounds) };
    },
    watchProcess({ version, commit }) {
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_MS });
      for (const name of MISNAMED) registry.removeSingleMetric(name);
      new Gauge({ name: 'build_info', help: 'What this process was built from; always 1', labelNames: ['version', 'commit'], registers }).set(
        { version, commit },
        1,
      );
    },
    describe() {
      const typeOf = (metric: object): MetricDescription['type'] =>
        metric instanceof Counter ? 'counter' : metric instanceof Gauge ? 'gauge' : metric instanceof Histogram ? 'histogram' : 'summary';
      const all = registry.getMetricsAsArray() as unknown as { name: string; help: string; labelNames: readonly string[] }[];
      return all
        .map((metric) => ({ name: metric.name, type: typeOf(metric), labels: [...metric.labelNames], help: metric.help }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async render() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

interface Kept {
  readonly labels: Readonly<Record<string, string>>;
  /** Not cumulative; by upper bound. */
  readonly bucketValues: Record<string, number>;
  sum: number;
  count: number;
}

type Bound = readonly [seconds: number, name: string];

/** Updates prom-client's series directly: its `observe` checks all labels and looks the series up, half a dozen times per request. */
function seriesOf<L extends string>(metric: Histogram<L>, labels: Record<L, string>, bounds: readonly Bound[]): Series {
  const given = Object.entries<string>(labels);
  const all = (metric as unknown as { hashMap: Record<string, Kept> }).hashMap;
  const kept = (): Kept | undefined => Object.values(all).find((one) => given.every(([name, value]) => one.labels[name] === value));
  if (kept() === undefined) metric.zero(labels);
  const series = kept();
  if (series === undefined) throw new Error('this version of prom-client stores its series elsewhere: see seriesOf');
  return {
    observe(seconds) {
      series.sum += seconds;
      series.count += 1;
      for (const [most, name] of bounds) {
        if (seconds > most) continue;
        series.bucketValues[name]! += 1;
        return;
      }
    },
  };
}
