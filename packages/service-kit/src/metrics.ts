import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Build } from './build.ts';

/** Seconds; from cached reads (well under a millisecond) to the default deadline. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface CounterMetric<L extends string> {
  inc(labels: Record<L, string>, by?: number): void;
}
export interface GaugeMetric<L extends string> {
  set(labels: Record<L, string>, value: number): void;
}
export interface HistogramMetric<L extends string> {
  observe(labels: Record<L, string>, seconds: number): void;
  /** The same for fixed labels, without hashing them at every observation: for hot paths. */
  of(labels: Record<L, string>): { observe(seconds: number): void };
}

/** A service's Prometheus registry. Asking twice for one name returns the same metric. */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): CounterMetric<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): GaugeMetric<L>;
  /** A gauge whose value is asked for at every scrape. */
  observedGauge(name: string, help: string, read: () => number): void;
  histogram<L extends string = never>(name: string, help: string, labels?: readonly L[], buckets?: readonly number[]): HistogramMetric<L>;
  /** Event loop, heap and garbage collection of this process, and what it was built from; once per process. */
  watchProcess(build: Build): void;
  /** Prometheus text format. */
  render(): Promise<{ contentType: string; body: string }>;
}

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
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
      new Gauge({ name, help, registers, collect() { this.set(read()); } });
    },
    histogram(name, help, labels = [], buckets = LATENCY_BUCKETS) {
      const metric = once(name, () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }));
      return { observe: (values, seconds) => metric.observe(values, seconds), of: (values) => metric.labels(values) };
    },
    watchProcess({ version, commit }) {
      collectDefaultMetrics({ register: registry });
      new Gauge({ name: 'build_info', help: 'What this process was built from; always 1', labelNames: ['version', 'commit'], registers })
        .set({ version, commit }, 1);
    },
    async render() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
