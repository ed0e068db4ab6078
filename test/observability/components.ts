// Builds every component as its process does, without I/O, to read its metrics.
import { randomBytes } from 'node:crypto';
import { addressVariable, owners } from '@truckroll/contract';
import { acceptanceOf } from '@truckroll/grpc';
import type { Service } from '@truckroll/process';
import { readBuild, type MetricDescription } from '@truckroll/telemetry';
import { testCaller, testCallers } from '@truckroll/testing';
import { createGateway } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';
import { createWebhookDispatcher } from '../../services/webhook-dispatcher/src/webhook-dispatcher.ts';
import { CONFIGS, CREATE } from '../support/components.ts';

/** Nothing listens at this address, and nothing connects to it. */
const NOWHERE = '127.0.0.1:9';
const keys = `key:${randomBytes(32).toString('base64')}`;
const environment: Record<string, string> = {
  LOG_LEVEL: 'silent',
  DATABASE_URL: `postgresql://${NOWHERE}/nowhere`,
  REDIS_URL: `redis://${NOWHERE}`,
  KAFKA_BROKERS: NOWHERE,
  ...Object.fromEntries(owners.map((owner) => [addressVariable(owner), NOWHERE])),
  CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join(),
  CURSOR_KEYS: keys,
  IDENTITY_KEYS: keys,
  WEBHOOK_SECRET_KEYS: keys,
};
const as = (caller: 'gateway' | 'webhook-dispatcher'): Record<string, string> => ({ ...environment, CALL_CREDENTIAL: testCaller(caller).text });

export function components(): readonly Service[] {
  const all = [
    createGateway({ config: gatewayConfig(as('gateway')) }),
    ...owners.map((owner) => CREATE[owner](CONFIGS[owner](environment) as never)),
    createWebhookDispatcher(webhookDispatcherConfig(as('webhook-dispatcher'))),
  ];
  for (const { metrics } of all) metrics.watchProcess(readBuild({}));
  return all;
}

export interface ListedMetric extends MetricDescription {
  readonly components: readonly string[];
}

/** Every metric of the system, by name. Throws when two components give one name different meanings. */
export function listMetrics(of: readonly Service[] = components()): readonly ListedMetric[] {
  const found = new Map<string, MetricDescription & { components: string[] }>();
  for (const { name: component, metrics } of of) {
    for (const metric of metrics.describe()) {
      const known = found.get(metric.name);
      if (known === undefined) found.set(metric.name, { ...metric, components: [component] });
      else if (known.help !== metric.help || known.type !== metric.type || known.labels.join() !== metric.labels.join()) {
        throw new Error(`${metric.name} is not the same in ${known.components.join()} and ${component}`);
      } else known.components.push(component);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
