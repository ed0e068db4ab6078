import { createMetrics, databaseDurations, durations, kafkaDurations } from '../src/index.ts';

test('series beyond the limit count as other, separately for each outcome', async () => {
  const metrics = createMetrics('trial');
  const took = durations(metrics, 'work_duration_seconds', 'Work', ['name', 'error_type']);
  for (let index = 0; index < 700; index += 1) took.ended(performance.now(), `n${index}`, index % 2 === 0 ? '' : 'failed');
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

test('a known series keeps its count, whatever the order of outcomes', async () => {
  const metrics = createMetrics('trial');
  const took = durations(metrics, 'work_duration_seconds', 'Work', ['name', 'error_type']);
  for (let index = 0; index < 600; index += 1) took.ended(performance.now(), 'known', index % 2 === 0 ? '' : 'failed');
  took.ended(performance.now(), 'new', '');
  const { body } = await metrics.render();
  expect(body).toContain('work_duration_seconds_count{component="trial",name="known",error_type="failed"} 300\n');
  expect(body).toContain('work_duration_seconds_count{component="trial",name="new",error_type=""} 1\n');
});

test('durations are in seconds since a time in milliseconds', async () => {
  const metrics = createMetrics('trial');
  const restore = performance.now.bind(performance);
  try {
    performance.now = () => 7500;
    durations(metrics, 'work_duration_seconds', 'Work', ['error_type']).ended(5000, '');
  } finally {
    performance.now = restore;
  }
  expect((await metrics.render()).body).toContain('work_duration_seconds_sum{component="trial",error_type=""} 2.5\n');
});

test('without metrics, nothing is measured', () => {
  expect(() => durations(undefined, 'work_duration_seconds', 'Work', ['error_type']).ended(0, '')).not.toThrow();
});

test('calls of databases have seven buckets, requests to Kafka an operation and an error', async () => {
  const metrics = createMetrics('trial');
  databaseDurations(metrics).ended(performance.now(), 'redis', 'count_request', '');
  const { body } = await metrics.render();
  expect([...body.matchAll(/_bucket\{le="([^"]+)"/g)].map(([, bound]) => bound)).toEqual(['0.001', '0.005', '0.025', '0.1', '0.5', '2.5', '10', '+Inf']);
  kafkaDurations(metrics).ended(performance.now(), 'send', '');
  expect(metrics.describe().map(({ name, labels }) => [name, labels])).toContainEqual([
    'messaging_client_operation_duration_seconds',
    ['messaging_operation_name', 'error_type'],
  ]);
});
