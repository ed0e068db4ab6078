// The components' Prometheus metrics, as built from the code and as exposed by a running system.
import { spawnSync } from 'node:child_process';
import { prometheus, silent } from '@truckroll/local-stack';
import { components } from './components.ts';

let promtool: string;
beforeAll(async () => {
  promtool = await prometheus('promtool', silent);
}, 120_000);

const all = components();
afterAll(() => Promise.all(all.map((component) => component.destroy())));

test.each(all.map((component) => [component.name, component] as const))('the metrics of %s pass promtool check metrics', async (_, { metrics }) => {
  const { body } = await metrics.render();
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' });
  expect(`${stdout}${stderr}`.trim()).toBe('');
  expect(status).toBe(0);
});

test('every process exposes its build', async () => {
  for (const { name, metrics } of all) expect((await metrics.render()).body).toContain(`build_info{version="checkout",commit="unknown",component="${name}"} 1`);
});
