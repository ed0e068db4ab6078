import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { callers, components, owners } from '@truckroll/contract';
import { ROOT } from '@truckroll/local-stack';
import { parse } from 'yaml';
import { COMPONENTS, compose, drawSecrets, read } from './deploy/environment.ts';

const project = compose(drawSecrets());

test('the list has the gateway and every folder of services/, and nothing else', () => {
  expect(components.map(({ name }) => name).toSorted()).toEqual(['gateway', ...readdirSync(join(ROOT, 'services'))].toSorted());
});

test('the contract has a caller of the name of every component', () => {
  expect(callers).toEqual(expect.arrayContaining([...COMPONENTS]));
});

test('compose.yaml and the values of the chart have every component', () => {
  const values = parse(readFileSync(join(ROOT, 'deploy/helm/truckroll/values.yaml'), 'utf8')) as Record<string, object>;
  expect(Object.keys(project.services)).toEqual(expect.arrayContaining([...COMPONENTS]));
  expect(Object.keys(values)).toEqual(expect.arrayContaining(components.map(({ name, chartName = name }) => chartName)));
  const { existingSecrets } = values['postgresql'] as { existingSecrets: object };
  expect(Object.keys(existingSecrets).toSorted()).toEqual([...owners, 'migrate'].toSorted());
});

test.each(components)('$name listens at its port of the list unless it is given another', ({ name, port }) => {
  const { config } = read(name, { ...project.services[name]!.environment });
  expect(config).toMatchObject({ port, metricsPort: port + 1000 });
});
