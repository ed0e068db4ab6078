import { createMetrics } from '../src/index.ts';

async function worst(metrics: ReturnType<typeof createMetrics>): Promise<number> {
  const { body } = await metrics.render();
  return Number(/^nodejs_eventloop_lag_max_seconds\{[^}]*\} (.*)$/m.exec(body)?.[1]);
}

test('a blocked event loop shows in the metrics from the first scrape on', async () => {
  const metrics = createMetrics('trial');
  metrics.watchProcess({ version: '1', commit: 'c' });
  expect(await worst(metrics)).toBe(0);
  // The lag is measured between two samples, so the loop must be blocked several times.
  for (let times = 0; times < 3; times += 1) {
    const until = performance.now() + 400;
    while (performance.now() < until);
    // Not a timer: an overdue timer would run before the loop completes a turn, and block the sampling again.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await worst(metrics)).toBeGreaterThanOrEqual(0.4);
  const { body } = await metrics.render();
  for (const measure of ['min', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    expect(body).toMatch(new RegExp(`^nodejs_eventloop_lag_${measure}_seconds\\{component="trial"\\} \\d`, 'm'));
});
