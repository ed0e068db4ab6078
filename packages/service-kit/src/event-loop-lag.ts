import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Between looks at the event loop. An undisturbed loop has this much as its lag, which is told of a loop that stands still for
 * longer.
 */
const PRECISION_MS = 200;
/** Who scrapes does so more often. Looks are most of what an idle process would do, so nobody looks for nobody. */
const UNREAD_MS = 120_000;
/** For prom-client, which looks by itself: never, as far as a timer goes. */
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

/** prom-client's gauges of the event loop's lag, of the time since the scrape before; 0 at the first. */
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
    // The first that a scrape asks tells them all.
    return { read, gauge: new Gauge({ name, help, registers: [registry], ...(n === 0 && { collect }) }) };
  });
}
