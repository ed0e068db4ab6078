import { addressVariable, components, databaseVariable, owners, type Component } from '../src/components.ts';

test('lists owners before those that call them, and the gateway last', () => {
  expect(components.map(({ name }) => name)).toEqual(['integrations', 'scheduling', 'billing', 'reporting', 'webhook-dispatcher', 'gateway']);
});

test('calls the services with a schema owners', () => {
  expect(owners).toEqual(['integrations', 'scheduling', 'billing', 'reporting']);
});

test.each<[keyof Component, string[]]>([
  ['postgresql', ['integrations', 'scheduling', 'billing', 'reporting']],
  ['redis', ['integrations', 'gateway']],
  ['kafka', ['integrations', 'scheduling', 'billing', 'reporting', 'webhook-dispatcher']],
  ['notifies', ['integrations', 'scheduling']],
  ['consumes', ['integrations', 'billing', 'reporting']],
  ['publishes', ['scheduling', 'billing']],
])('marks with %s: %j', (trait, names) => {
  expect(components.filter((component) => component[trait] === true).map(({ name }) => name)).toEqual(names);
});

test.each<[keyof Component, Record<string, unknown>]>([
  ['port', { integrations: 50054, scheduling: 50051, billing: 50052, reporting: 50053, 'webhook-dispatcher': 50055, gateway: 8080 }],
  ['chartName', { 'webhook-dispatcher': 'dispatcher' }],
  ['calls', { 'webhook-dispatcher': ['integrations'], gateway: ['scheduling', 'billing', 'reporting', 'integrations'] }],
  [
    'secretKeys',
    {
      integrations: ['WEBHOOK_SECRET_KEYS', 'CALLER_CREDENTIALS'],
      scheduling: ['CALLER_CREDENTIALS'],
      billing: ['CALLER_CREDENTIALS'],
      reporting: ['CALLER_CREDENTIALS'],
      'webhook-dispatcher': ['CALL_CREDENTIAL'],
      gateway: ['CURSOR_KEYS', 'IDENTITY_KEYS', 'CALL_CREDENTIAL'],
    },
  ],
  ['optionalKeys', { integrations: ['SMTP_URL'], scheduling: ['SMTP_URL', 'SMS_TOKEN'] }],
])('has the %s of each component', (trait, values) => {
  const listed: readonly Component[] = components;
  expect(Object.fromEntries(listed.flatMap((component) => (component[trait] === undefined ? [] : [[component.name, component[trait]]])))).toEqual(values);
});

test('gives every owner a credential for each caller, and every caller the addresses of owners only', () => {
  const listed: readonly Component[] = components;
  for (const { name, secretKeys, calls = [] } of listed) {
    expect(secretKeys.includes('CALLER_CREDENTIALS')).toBe((owners as readonly string[]).includes(name));
    expect(secretKeys.includes('CALL_CREDENTIAL')).toBe(calls.length > 0);
    expect(calls.filter((called) => !(owners as readonly string[]).includes(called))).toEqual([]);
  }
});

test('names the variable with the address of an owner after it', () => {
  expect(addressVariable('billing')).toBe('BILLING_ADDRESS');
  expect([databaseVariable('billing'), databaseVariable('billing', 'SESSION_URL')]).toEqual(['BILLING_DATABASE_URL', 'BILLING_DATABASE_SESSION_URL']);
});
