import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** Sampling interval. An idle event loop reports this much lag, so only longer stalls show. */
const PRECISION_MS = 200;
/** Stop sampling when nothing has scraped for two minutes: sampling is most of an idle process's CPU time. */
const UNREAD_MS = 120_000;
/** The longest delay of a timer; as prom-client's sampling interval, it turns that sampling off. */
export const NEVER_MS = 2 ** 31 - 1;

const MEASURES = {
  min: ['The minimum recorded event loop delay.', 'min'],
  max: ['The maximum recorded event loop delay.', 'max'],
  mean: ['The mean of the recorded event loop delays.', 'mean'],
  stddev: ['The standard deviation of the recorded event loop delays.', 'stddev'],
  p50: ['The 50th percentile of the recorded event loop delays.', 50],
  p90: ['The 90th percentile of the recorded event loop delays.', 90],
  p99: ['The 99th percentile of the recorded event loop delays.', 99],
} as const;

/** prom-client's gauges of event loop lag, measured since the previous scrape; 0 at the first. */
export function watchEventLoop(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: PRECISION_MS });
  const unread = setTimeout(() => delays.disable(), UNREAD_MS).unref();
  const collect = (): void => {
    for (const { gauge, read } of gauges) gauge.set(delays.count > 0 ? read() / 1e9 : 0);
    delays.reset();
    delays.enable();
    unread.refresh();
  };
  const gauges = Object.entries(MEASURES).map(([measure, [help, value]], n) => {
    const name = `nodejs_eventloop_lag_${measure}_seconds`;
    registry.removeSingleMetric(name);
    const read = (): number => (typeof value === 'number' ? delays.percentile(value) : delays[value]);
    // The first gauge's collect function updates all gauges.
    return { read, gauge: new Gauge({ name, help, registers: [registry], ...(n === 0 && { collect }) }) };
  });
}
