// Whose heap, and how many of V8's threads, the system under load has.
import { chartNodeOptions } from '../../loadtest/load/chart.ts';

const optionsOf = chartNodeOptions();

test.each(['gateway', 'scheduling', 'billing', 'reporting', 'integrations', 'webhook-dispatcher'])(
  '%s has the bounds of its heap and the threads beside it that the chart gives it',
  (name) => {
    expect(optionsOf(name)).toMatch(/^--max-old-space-size=[1-9]\d* --max-semi-space-size=8 --v8-pool-size=1$/);
  },
);

test('a component that the chart does not have is told of', () => {
  expect(() => optionsOf('scheduler')).toThrow(/minimal\.yaml has no NODE_OPTIONS for scheduler/);
});
