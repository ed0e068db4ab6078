import { createMetrics } from '../src/index.ts';

const samples = async (metrics: ReturnType<typeof createMetrics>) =>
  (await metrics.render()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('labels every series with the component, counts by one or by more, and sets a gauge', async () => {
  const metrics = createMetrics('billing');
  const events = metrics.counter('events_total', 'Events', ['result']);
  events.inc({ result: 'stored' });
  events.inc({ result: 'stored' }, 3);
  events.inc({ result: 'refused' }, 0);
  const rows = metrics.gauge('rows', 'Rows', ['schema']);
  rows.set({ schema: 'a' }, 7);
  rows.set({ schema: 'a' }, 2);
  expect(await samples(metrics)).toEqual([
    'events_total{result="stored",component="billing"} 4',
    'events_total{result="refused",component="billing"} 0',
    'rows{schema="a",component="billing"} 2',
  ]);
});

test('returns the same metric for the same name, and reads an observed gauge from its newest source at every scrape', async () => {
  const metrics = createMetrics('billing');
  for (let times = 0; times < 2; times += 1) {
    metrics.counter('events_total', 'Events').inc({});
    metrics.gauge('rows', 'Rows').set({}, times);
    metrics.histogram('work_seconds', 'Work', [], [1]).observe({}, 0.5);
  }
  metrics.observedGauge('connections', 'Connections', () => 1);
  let now = 2;
  metrics.observedGauge('connections', 'Connections', () => (now += 1));
  const all = [
    'events_total{component="billing"} 2',
    'rows{component="billing"} 1',
    'work_seconds_bucket{le="1",component="billing"} 2',
    'work_seconds_bucket{le="+Inf",component="billing"} 2',
    'work_seconds_sum{component="billing"} 1',
    'work_seconds_count{component="billing"} 2',
  ];
  expect(await samples(metrics)).toEqual([...all, 'connections{component="billing"} 3']);
  expect(await samples(metrics)).toEqual([...all, 'connections{component="billing"} 4']);
});

test('describes its metrics in the order of their names, with types, labels and help', () => {
  const metrics = createMetrics('billing');
  metrics.histogram('work_seconds', 'Work', ['name']);
  metrics.gauge('rows', 'Rows');
  metrics.counter('events_total', 'Events', ['result']);
  metrics.observedGauge('connections', 'Connections', () => 1);
  expect(metrics.describe()).toEqual([
    { name: 'connections', type: 'gauge', labels: [], help: 'Connections' },
    { name: 'events_total', type: 'counter', labels: ['result'], help: 'Events' },
    { name: 'rows', type: 'gauge', labels: [], help: 'Rows' },
    { name: 'work_seconds', type: 'histogram', labels: ['name'], help: 'Work' },
  ]);
});

test('measures its process: the event loop, memory, garbage collections and the build, without misnamed gauges', async () => {
  const metrics = createMetrics('billing');
  metrics.watchProcess({ version: '1.4.0', commit: 'abc1234' });
  const names = new Set((await samples(metrics)).map((line) => line.slice(0, line.indexOf('{'))));
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'build_info'])
    expect([...names]).toContain(name);
  expect([...names].filter((name) => name.startsWith('nodejs_active_') && name.endsWith('_total'))).toEqual([]);
});
