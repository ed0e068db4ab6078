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

const FAULTY = {
  PORT: '70000',
  HOST: 'a..b',
  GRPC_TLS_CERT_FILE: '/tls.crt',
  KAFKA_BROKERS: 'kafka:99999',
  DATABASE_URL: 'mysql://db/truckroll',
  REDIS_URL: 'http://redis',
  SMTP_URL: 'smtp://mail',
  WEBHOOK_ALLOWED_TARGETS: 'sink',
  WEBHOOK_DENIED_TARGETS: 'intranet',
  CORS_ORIGINS: 'https://*.example.com',
  TRUSTED_PROXIES: '10.0.0.0/99',
  TOKEN_JWKS_FILE: '/jwks.json',
  CONSOLE_CLIENT_ID: 'console',
  CONSOLE_SCOPE: 'profile',
};

test.each<[(typeof components)[number]['name'], string[]]>([
  ['scheduling', ['HOST', 'PORT', 'DATABASE_URL', 'KAFKA_BROKERS', 'GRPC_TLS_CERT_FILE', 'NOTIFICATION_FROM']],
  ['billing', ['HOST', 'PORT', 'DATABASE_URL', 'KAFKA_BROKERS', 'GRPC_TLS_CERT_FILE']],
  ['reporting', ['HOST', 'PORT', 'DATABASE_URL', 'KAFKA_BROKERS', 'GRPC_TLS_CERT_FILE']],
  [
    'integrations',
    [
      ...['HOST', 'PORT', 'DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS', 'GRPC_TLS_CERT_FILE', 'NOTIFICATION_FROM', 'WEBHOOK_ALLOWED_TARGETS'],
      'WEBHOOK_DENIED_TARGETS',
    ],
  ],
  ['webhook-dispatcher', ['HOST', 'PORT', 'KAFKA_BROKERS', 'GRPC_TLS_CERT_FILE', 'WEBHOOK_ALLOWED_TARGETS', 'WEBHOOK_DENIED_TARGETS']],
  ['gateway', ['HOST', 'PORT', 'CORS_ORIGINS', 'REDIS_URL', 'TRUSTED_PROXIES', 'GRPC_TLS_CERT_FILE', 'TOKEN_ISSUER', 'CONSOLE_CLIENT_ID', 'CONSOLE_SCOPE']],
])('%s names all faulty settings at once', (name, faulty) => {
  const environment = { ...project.services[name]!.environment, ...FAULTY };
  let message = '';
  try {
    read(name, environment);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message.split('\n').map((line) => /^\w+/.exec(line)?.[0])).toEqual(faulty);
});
