// deploy/compose.yaml, as far as it can be checked without a container engine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { stopLimitMs } from '@truckroll/process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { COMPONENTS, compose, drawSecrets, read, type Component } from './environment.ts';

const secrets = drawSecrets();
const project = compose(secrets);
const environmentOf = (name: string): Record<string, string> => ({ ...project.services[name]!.environment });

test('the file conforms to the Compose specification', () => {
  const schema = JSON.parse(readFileSync(join(ROOT, 'deploy/schemas/compose.json'), 'utf8')) as object;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  expect(ajv.validate(schema, project) ? [] : ajv.errors).toEqual([]);
  expect(ajv.validate(schema, { services: { gateway: { imagee: 'x' } } })).toBe(false);
});

test.each(COMPONENTS)('%s starts with its settings, and reads all of them', (component) => {
  const { config, unread } = read(component, environmentOf(component));
  expect(unread).toEqual([]);
  expect(parseInt(project.services[component]!.stop_grace_period!, 10) * 1000).toBeGreaterThan(stopLimitMs(config));
  expect(project.services[component]!.read_only).toBe(true);
});

test('addresses name services of the file at the ports on which they listen', () => {
  const addresses = Object.values(project.services).flatMap(({ environment = {} }) =>
    Object.entries(environment).filter(([name]) => /^[A-Z]+_ADDRESS$/.test(name)),
  );
  expect(addresses.length).toBeGreaterThan(0);
  for (const [, address] of addresses) {
    const [host, port] = address.split(':') as [Component, string];
    expect({ address, port: read(host, environmentOf(host)).config.port }).toEqual({ address, port: Number(port) });
  }
});

test('callers have credentials that services accept, and the operator has a separate one', () => {
  const { callerCredentials } = read('billing', environmentOf('billing')).config;
  expect([...callerCredentials.keys()].toSorted()).toEqual(['gateway', 'operator', 'webhook-dispatcher']);
  for (const name of ['gateway', 'webhook-dispatcher', 'truckroll']) expect(Object.values(secrets)).toContain(environmentOf(name)['CALL_CREDENTIAL']);
});

test('rejects a variable without a value by name', () => {
  const { CURSOR_KEYS: _, ...rest } = secrets;
  expect(() => compose(rest)).toThrow('CURSOR_KEYS');
});
