import { createMetrics, databaseDurations, durations } from '../src/index.ts';

test('series beyond the limit count as other, separately for each outcome', async () => {
  const metrics = createMetrics('trial');
  const took = durations(metrics, 'work_duration_seconds', 'Work', ['name', 'error_type']);
  for (let index = 0; index < 700; index += 1) took.ended(performance.now(), `n${index}`, index % 2 === 0 ? '' : 'failed');
  // A known series is still counted under its name.
  took.ended(performance.now(), 'n1', 'failed');
  const { body } = await metrics.render();
  const counts = new Map(
    [...body.matchAll(/^work_duration_seconds_count\{component="trial",(.*)\} (\d+)$/gm)].map(([, labels, count]) => [labels, Number(count)]),
  );
  expect(counts.size).toBe(502);
  expect(counts.get('name="other",error_type=""')).toBe(100);
  expect(counts.get('name="other",error_type="failed"')).toBe(100);
  expect(counts.get('name="n1",error_type="failed"')).toBe(2);
});

test('a series and its histogram record into the same buckets', async () => {
  const metrics = createMetrics('trial');
  const seconds = metrics.histogram('work_duration_seconds', 'Work', ['name', 'error_type'], [0.25, 1, 2.5]);
  const labels = { name: 'n', error_type: '' };
  seconds.observe(labels, 0.125);
  seconds.of(labels).observe(0.25);
  seconds.of(labels).observe(1.5);
  seconds.of({ ...labels, error_type: 'failed' }).observe(3);
  seconds.observe(labels, 4);
  const { body } = await metrics.render();
  const counts = [...body.matchAll(/^work_duration_seconds_(?:bucket\{le="([^"]+)",|(sum|count)\{).*error_type="(.*)"\} (\S+)$/gm)];
  expect(counts.map(([, bound, other, error, count]) => [error, bound ?? other, Number(count)])).toEqual([
    ['', '0.25', 2],
    ['', '1', 2],
    ['', '2.5', 3],
    ['', '+Inf', 4],
    ['', 'sum', 5.875],
    ['', 'count', 4],
    ['failed', '0.25', 0],
    ['failed', '1', 0],
    ['failed', '2.5', 0],
    ['failed', '+Inf', 1],
    ['failed', 'sum', 3],
    ['failed', 'count', 1],
  ]);
});

test('PostgreSQL and Redis share one metric, which describe lists with its labels', () => {
  const metrics = createMetrics('trial');
  databaseDurations(metrics).ended(performance.now(), 'redis', 'count_request', '');
  databaseDurations(metrics).ended(performance.now(), 'postgresql', 'list_jobs', '23505');
  expect(metrics.describe()).toEqual([
    {
      name: 'db_client_operation_duration_seconds',
      type: 'histogram',
      labels: ['db_system_name', 'db_query_summary', 'error_type'],
      help: expect.stringContaining('SQLSTATE'),
    },
  ]);
});
