// A separate installation on any cluster: namespace, database and roles, Secrets, sink, and the chart.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callers, owners, type Caller } from '@truckroll/contract';
import { acceptanceOf, newCallCredential, type CallCredential } from '@truckroll/grpc';
import { createSession } from '@truckroll/postgres';
import type { Cluster, Manifest } from './kubernetes.ts';
import { pod, SINK_PORT, WIRES } from './pods.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = join(ROOT, 'deploy/helm/truckroll');

/** What helm installs: a checkout's chart, or a published one with the digests of its images. A registry of this machine has no TLS. */
export function chartOf(published: string, digests: string): string[] {
  return [
    published || CHART,
    ...(/^oci:\/\/(localhost|127\.0\.0\.1)[:/]/.test(published) ? ['--plain-http'] : []),
    ...(digests === '' ? [] : ['--values', digests]),
  ];
}

export interface Servers {
  /** URL of a role that may create databases and roles. Pods must reach the address, too. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly kafkaBrokers: string;
}

export interface Images {
  readonly repository: string;
  readonly tag: string;
}

export interface Prepared {
  readonly values: Record<string, unknown>;
  readonly sinkUrl: string;
  /** Those by which a program in the cluster reaches PostgreSQL and Kafka, without the role. */
  readonly variables: Record<string, string>;
  credential(caller: Caller): CallCredential;
  remove(): Promise<void>;
}

export async function prepare(cluster: Cluster, servers: Servers, images: Images): Promise<Prepared> {
  const suffix = randomBytes(4).toString('hex');
  const roles = await createRoles(servers.databaseUrl, suffix);
  await cluster.apply({ kind: 'Namespace', metadata: { name: cluster.namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } });
  const credentials = callers.map(newCallCredential);
  const credential = (name: Caller): CallCredential => credentials.find(({ caller }) => caller === name)!;
  const accepted = credentials.map(acceptanceOf).join();
  const key = (): string => `k1:${randomBytes(32).toString('base64')}`;
  const own: Record<string, Record<string, string>> = {
    gateway: { CURSOR_KEYS: key(), IDENTITY_KEYS: key(), CALL_CREDENTIAL: credential('gateway').text },
    dispatcher: { CALL_CREDENTIAL: credential('webhook-dispatcher').text },
  };
  for (const name of owners) own[name] = { CALLER_CREDENTIALS: accepted };
  Object.assign(own['integrations']!, { WEBHOOK_SECRET_KEYS: key() });
  await cluster.apply(
    ...Object.entries(own).map(([name, data]) => secret(name, data)),
    ...Object.entries(roles.users).map(([name, data]) => secret(`db-${name}`, data)),
    secret('truckroll-operator', { CALL_CREDENTIAL: credential('operator').text }),
  );
  const image = `${images.repository}/truckroll:${images.tag}`;
  const sinkAddress = await start(cluster, pod('sink', image, 'sink.mjs', {}, SINK_PORT));
  const redis = new URL(servers.redisUrl);
  const between = { REDIS: `${redis.hostname}:${redis.port || '6379'}`, KAFKA: servers.kafkaBrokers };
  const wires = await start(cluster, pod('wires', image, 'wires.mjs', between, WIRES.control));
  const database = new URL(servers.databaseUrl);
  const kafka = { brokers: servers.kafkaBrokers.split(',').map((_, index) => `${wires}:${WIRES.kafka + index}`), prefix: `${suffix}.` };
  return {
    credential,
    variables: {
      DATABASE_URL: `postgres://${database.host}/${roles.database}${database.search}`,
      KAFKA_BROKERS: kafka.brokers.join(),
      KAFKA_PREFIX: kafka.prefix,
    },
    sinkUrl: `http://${sinkAddress}:${SINK_PORT}`,
    remove: roles.remove,
    values: {
      image: { ...images, pullPolicy: 'IfNotPresent' },
      postgresql: {
        host: database.hostname,
        port: Number(database.port || 5432),
        database: roles.database,
        parameters: database.search.slice(1),
        existingSecrets: Object.fromEntries(Object.keys(roles.users).map((name) => [name, `db-${name}`])),
      },
      redis: { url: Object.assign(redis, { hostname: wires, port: String(WIRES.redis) }).href },
      kafka,
      ...Object.fromEntries(Object.keys(own).map((name) => [name, component(name, `${sinkAddress}:${SINK_PORT}`)])),
    },
  };
}

async function start(cluster: Cluster, manifest: Manifest): Promise<string> {
  await cluster.apply(manifest);
  const { name } = manifest['metadata'] as { name: string };
  await cluster.kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s');
  return cluster.kubectl('get', 'pod', name, '--output', 'jsonpath={.status.podIP}');
}

/** Small, so that all pods and their successors fit on one node. */
function component(name: string, target: string): Record<string, unknown> {
  const resources = { requests: { cpu: '20m', memory: '192Mi' }, limits: { memory: '512Mi' } };
  return { existingSecret: name, resources, replicas: 2, ...(name === 'dispatcher' ? { allowedTargets: [target], allowHttp: true } : {}) };
}

const secret = (name: string, data: Record<string, string>): Manifest => ({ kind: 'Secret', metadata: { name }, stringData: data });

/** Creates a separate database. Roles belong to the whole server, so their names carry the suffix. */
async function createRoles(adminUrl: string, suffix: string) {
  const database = `truckroll_${suffix}`;
  const users = Object.fromEntries(
    [...owners, 'migrate'].map((name) => [name, { username: `${name}_${suffix}`, password: randomBytes(16).toString('base64') }]),
  );
  const within = async (url: string, texts: readonly string[]): Promise<void> => {
    const session = await createSession({ url, statementTimeoutMs: 0 });
    try {
      for (const text of texts) await session.query({ text });
    } finally {
      await session.close();
    }
  };
  const names = Object.values(users).map(({ username }) => username);
  const migrator = `migrate_${suffix}`;
  await within(adminUrl, [
    `create database ${database}`,
    ...Object.values(users).map(({ username, password }) => `create role ${username} login password '${password}'`),
    ...owners.map((name) => `grant ${name}_${suffix} to ${migrator}`),
  ]);
  const own = Object.assign(new URL(adminUrl), { pathname: `/${database}` });
  await within(
    own.href,
    owners.map((name) => `create schema ${name} authorization ${name}_${suffix}`),
  );
  return { database, users, remove: () => within(adminUrl, [`drop database ${database} with (force)`, ...names.map((name) => `drop role ${name}`)]) };
}

export function workFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'truckroll-cluster-'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
