import { components } from '@truckroll/contract';
import { chartNodeOptions } from '../../loadtest/load/chart.ts';

const optionsOf = chartNodeOptions();

test.each(components.map(({ name }) => name))('%s has the heap limits and the number of threads that the chart gives it', (name) => {
  expect(optionsOf(name)).toMatch(/^--max-old-space-size=[1-9]\d* --max-semi-space-size=8 --v8-pool-size=1$/);
});

test('reports a component that the chart does not have', () => {
  expect(() => optionsOf('scheduler')).toThrow(/minimal\.yaml has no NODE_OPTIONS for scheduler/);
});
