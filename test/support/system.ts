// Real services on free ports in one test process, a separate database, and the test run's Redis and Kafka. Each test file that
// needs several services starts it once.
import { randomBytes } from 'node:crypto';
import { addressVariable, owners, resource, topics, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import type { DemoOptions } from '@truckroll/demo-company';
import { acceptanceOf, openChannel, parseCallerCredentials, type CallCredential, type Channel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { KeyRing, type Service } from '@truckroll/process';
import { parseRedisUrl } from '@truckroll/redis';
import { silentLog } from '@truckroll/telemetry';
import { freshDatabase, openProxy, testCaller, testCallers, testConfig, type TcpProxy, type TestDatabase } from '@truckroll/testing';
import { createGateway } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { createKafka, ensureTopics } from '../../packages/outbox/src/index.ts';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';
import { createWebhookDispatcher } from '../../services/webhook-dispatcher/src/webhook-dispatcher.ts';
import { CREATE, SCHEMAS } from './components.ts';
import { createCompany, importRecords, type ImportReport, type TestCompany } from './company.ts';
import { demoLines } from './demo.ts';
import type { Everything } from './expected.ts';
import { openKafkaWire, type Wire } from './kafka-wire.ts';
import { createIssuer } from './tokens.ts';

export type { ImportReport, TestCompany } from './company.ts';

/** With fewer partitions than their services would give them, because a broker takes milliseconds for each, and keeps those of all systems of a run. */
const TOPICS = Object.values(topics).map((topic) => ({ ...topic, partitions: Math.min(topic.partitions, 2) }));

/** Migrated once for all test files: each service would take half a second. */
const MIGRATED = Object.fromEntries(SCHEMAS.map(({ schema, migrations }) => [schema, migrations]));

export interface System {
  baseUrl: string;
  channel(owner: Owner): Channel;
  createCompany(timezone?: string): Promise<TestCompany>;
  importRecords(company: TestCompany, path: string, records: Iterable<unknown>): Promise<ImportReport>;
  /** Imports the records of a generated company. Resolves to them by path. */
  importDemo(company: TestCompany, seed: number, size: DemoOptions['size'], until?: string): Promise<Everything>;
  get(company: TestCompany, path: string): Promise<{ status: number; headers: Headers; body: any }>;
  setTimezone(company: TestCompany, timezone: string): Promise<void>;
  userToken(company: TestCompany): string;
  /** For inspecting, or corrupting, what the services have stored. */
  database: Database;
  /** Connections to the servers that tests can cut; present if the system was started with `wired`. */
  wires: Readonly<Partial<Record<'postgres' | 'redis' | 'kafka', Wire>>>;
  serviceEnvironment: Readonly<Record<string, string>>;
  gatewayEnvironment: Readonly<Record<string, string>>;
  dispatcherEnvironment: Readonly<Record<string, string>>;
  metrics(): Promise<Record<string, string>>;
  /** Starts a webhook dispatcher, which stops with the system if not before. */
  startDispatcher(environment?: Readonly<Record<string, string>>): Promise<Service>;
  stopService(name: Owner): Promise<void>;
  startService(name: Owner): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  wired?: boolean;
  /** A database to use instead of a new one. It is dropped with the system. */
  database?: TestDatabase;
  webhookAllowedTargets?: readonly string[];
  /** The provider of text messages. Default: none, and every message fails. */
  smsUrl?: string;
  logLevel?: 'info' | 'warn';
  operators?: readonly CallCredential[];
  /** Storage that outlives the system. Default: storage that is deleted with it. */
  storage?: Storage;
  /** Default: the test run's Redis. */
  redisUrl?: string;
  gatewaySettings?: Readonly<Record<string, string>>;
  /** Name of its cell (docs/adr/0029). Default: none. */
  cell?: string;
}

export interface Storage {
  readonly databaseUrl: string;
  /** With the service's role. Default: `databaseUrl` for all of them. */
  readonly urlOf?: (owner: Owner) => string;
  readonly kafkaPrefix: string;
  readonly secretKey: Buffer;
}

/** Test files share one broker, so each system has its own topic prefix: otherwise its consumers would take other systems' events. */
export function newStorage(databaseUrl: string): Storage {
  return { databaseUrl, kafkaPrefix: `${randomBytes(4).toString('hex')}.`, secretKey: randomBytes(32) };
}

export async function startSystem({
  wired = false,
  webhookAllowedTargets = [],
  smsUrl,
  logLevel = 'warn',
  database: found,
  operators = [],
  storage,
  redisUrl = required('REDIS_URL'),
  gatewaySettings = {},
  cell,
}: SystemOptions = {}): Promise<System> {
  const database = found ?? (storage === undefined ? await freshDatabase(MIGRATED) : { url: storage.databaseUrl, drop: async () => undefined });
  const { kafkaPrefix, secretKey } = storage ?? newStorage(database.url);
  const wires = wired ? { postgres: await wireTo(database.url), redis: await wireTo(redisUrl), kafka: openKafkaWire(brokers()) } : {};
  const environment = {
    cell,
    databaseUrl: through(database.url, wires.postgres),
    kafkaBrokers: brokers(),
    kafkaPrefix,
    webhookSecretKeys: new KeyRing([['test', secretKey]]),
    webhookAllowedTargets,
    webhookDeniedTargets: ['45.83.0.0/16'],
    webhookAllowHttp: false,
    smsUrl,
    smsToken: '',
  };
  await ensureTopics(createKafka('test', { kafkaBrokers: brokers(), kafkaPrefix }, silentLog), TOPICS, silentLog, new AbortController().signal);
  const REDIS_URL = through(redisUrl, wires.redis);
  const issuer = createIssuer();
  const callerCredentials = parseCallerCredentials([...testCallers, ...operators].map(acceptanceOf).join());
  const config = { ...testConfig, callerCredentials, logLevel, ...environment, redis: parseRedisUrl(REDIS_URL) } as never;
  const configOf = (owner: Owner) => (storage?.urlOf === undefined ? config : ({ ...(config as object), databaseUrl: storage.urlOf(owner) } as never));
  const services: Service[] = owners.map((owner) => CREATE[owner](configOf(owner)));
  const ports = await Promise.all(services.map(async (service) => (await service.start()).port));
  const channels = Object.fromEntries(owners.map((owner, i) => [owner, openChannel(`127.0.0.1:${ports[i]}`, { credentials: testCallers })])) as Record<
    Owner,
    Channel
  >;
  const gatewayEnvironment = {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: logLevel,
    REDIS_URL,
    CALL_CREDENTIAL: testCaller('gateway').text,
    IDENTITY_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CURSOR_KEYS: `test:${randomBytes(32).toString('base64')}`,
    ...issuer.environment,
    ...Object.fromEntries(owners.map((owner, i) => [addressVariable(owner), `127.0.0.1:${ports[i]}`])),
    ...gatewaySettings,
  };
  const gateway = createGateway({ config: gatewayConfig(gatewayEnvironment) });
  const { port } = await gateway.start();
  const direct = new Database({ url: database.url, maxConnections: 2 });
  const dispatcherEnvironment = {
    CALL_CREDENTIAL: testCaller('webhook-dispatcher').text,
    INTEGRATIONS_ADDRESS: `127.0.0.1:${ports[owners.indexOf('integrations')]}`,
    KAFKA_BROKERS: brokers().join(),
    KAFKA_PREFIX: kafkaPrefix,
    WEBHOOK_ALLOWED_TARGETS: webhookAllowedTargets.join(),
  };
  const dispatchers: Service[] = [];
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    channel: (owner) => channels[owner],
    createCompany: (timezone = 'America/Chicago') => createCompany(channels.integrations, timezone),
    importRecords: (company, path, records) => importRecords(channels[resource(path).owner], company.id, path, records),
    async importDemo({ id, timezone }, seed, size, end = '2026-11-20T18:00:00Z') {
      const all = demoLines({ seed, size, timezone, until: end });
      for (const [path, lines] of all) {
        const { problems } = await importRecords(channels[resource(path).owner], id, path, lines);
        if (problems.length > 0) throw new Error(`${path}: ${JSON.stringify(problems.slice(0, 3))}`);
      }
      return Object.fromEntries(all);
    },
    async get(company, path) {
      const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${company.apiKey}`, accept: 'application/json' } });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    async setTimezone(company, timezone) {
      await channels.integrations.client(CompanyAdminServiceService).updateCompany({ id: company.id, timezone });
    },
    userToken: (company) => issuer.token(company),
    database: direct,
    wires,
    serviceEnvironment: {
      DATABASE_URL: environment.databaseUrl,
      REDIS_URL,
      KAFKA_BROKERS: brokers().join(),
      KAFKA_PREFIX: kafkaPrefix,
      CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join(),
      WEBHOOK_SECRET_KEYS: `test:${secretKey.toString('base64')}`,
      WEBHOOK_ALLOWED_TARGETS: webhookAllowedTargets.join(),
    },
    gatewayEnvironment,
    dispatcherEnvironment,
    async metrics() {
      const all = [gateway, ...services, ...dispatchers];
      return Object.fromEntries(await Promise.all(all.map(async (one) => [one.name, (await one.metrics.render()).body] as const)));
    },
    async startDispatcher(own = {}) {
      const settings = webhookDispatcherConfig({ ...dispatcherEnvironment, ...own });
      const dispatcher = createWebhookDispatcher({ ...settings, ...testConfig, logLevel, callCredential: testCaller('webhook-dispatcher') });
      dispatchers.push(dispatcher);
      await dispatcher.start();
      return dispatcher;
    },
    stopService: (name) => (services[owners.indexOf(name)] as Service).destroy(),
    async startService(name) {
      const at = owners.indexOf(name);
      services[at] = CREATE[name]({ ...(configOf(name) as object), port: ports[at] } as never);
      await services[at].start();
    },
    async stop() {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
      await gateway.destroy();
      issuer.close();
      await direct.close();
      for (const channel of Object.values(channels)) channel.close();
      await Promise.all(services.map((service) => service.destroy()));
      await Promise.all(Object.values(wires).map((wire) => wire.close()));
      await database.drop();
    },
  };
}

function wireTo(url: string): Promise<TcpProxy> {
  const { hostname: host, port } = new URL(url);
  return openProxy({ host, port: Number(port) });
}

function through(url: string, wire: TcpProxy | undefined): string {
  if (wire === undefined) return url;
  const address = new URL(url);
  address.host = `127.0.0.1:${wire.port}`;
  return address.href;
}

function brokers(): string[] {
  return required('KAFKA_BROKERS').split(',');
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run tests with npm test, which starts the servers`);
  return value;
}
