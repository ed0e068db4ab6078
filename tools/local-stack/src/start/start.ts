import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseVariable, owners, type Owner } from '@truckroll/contract/components';
import { formatAddress } from '@truckroll/process/addresses';
import { COMPILED, SYSTEM, bundleSupervisor, bundleSystem } from '../../../../scripts/bundles.mjs';
import type { DemoAccess } from '../demo-companies.ts';
import { writeJson } from '../files.ts';
import { Ports } from '../ports.ts';
import { Problem, describe } from '../problem.ts';
import { Watchdog, endLeftovers } from '../processes/watchdog.ts';
import { provision } from '../roles.ts';
import { say, since } from '../say.ts';
import { SECRET_NAMES, readSecrets } from '../secrets.ts';
import { beginServers } from '../servers/index.ts';
import { lockState } from '../state-lock.ts';
import { tokenIssuer } from '../token-issuer.ts';
import { demoAccess } from './demo.ts';
import { keepServers } from './keep-servers.ts';
import { observe } from './observe.ts';
import { listeningOf, requireAddress } from './listening.ts';
import { startLocalIssuer } from './local-issuer.ts';
import { hasOwnIssuer, plan, type StartPlan } from './plan.ts';
import { DRAIN_TIMEOUT } from './supervised.ts';
import { watchSources } from './source-watch.ts';
import { runSystem, type System } from './system.ts';
import { welcome } from './welcome.ts';

export interface StartOptions {
  readonly state: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly observed?: boolean;
  /** Whether components are rebuilt and restarted when their sources change. */
  readonly watched?: boolean;
  readonly stop: Promise<unknown>;
}

/** Starts everything, keeps it running until `stop` resolves, and resolves to the exit code when all processes have ended. */
export async function start(options: StartOptions): Promise<number> {
  const { state } = options;
  const lock = lockState(state, 'npm start');
  const record = join(state, 'processes.json');
  await endLeftovers(record);
  const watchdog = new Watchdog(record);
  const stopping = new AbortController();
  for (const file of ['ready.json', 'services.json'].map((name) => join(state, name))) {
    rmSync(file, { force: true });
    watchdog.deleteAtEnd(file);
  }
  try {
    const up = bringUp(options, watchdog, stopping.signal);
    const stoppedEarly = await Promise.race([up.then(() => false), options.stop.then(() => true)]);
    if (!stoppedEarly) await options.stop;
    up.catch(() => undefined);
    return 0;
  } finally {
    const startedAt = performance.now();
    say('stopping: the gateway first, then the services, then the servers …');
    stopping.abort();
    await watchdog.stopAll();
    lock.release();
    say(`stopped in ${since(startedAt)}`);
  }
}

async function bringUp({ state, environment, observed = false, watched = false }: StartOptions, watchdog: Watchdog, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  const secrets = readSecrets(state);
  const ports = new Ports(join(state, 'ports.json'));
  // Reserved before Kafka starts, because the processes need its address by then.
  const listening = listeningOf(environment['HOST'], say);
  await requireAddress(listening);
  const { loopback } = listening;
  const kafkaBrokers = environment['KAFKA_BROKERS'] || formatAddress(loopback, await ports.take('kafka'));
  const servers = await beginServers({ folder: state, ports, watchdog, say, password: secrets.databasePassword, environment, address: loopback });
  const started = Promise.withResolvers<System>();
  const bundling = watched ? watchBundles(state, started.promise, signal) : bundledOnce();
  // Reported where it is awaited.
  bundling.catch(() => undefined);
  const [adminUrl, redisUrl] = await Promise.all([servers.address('postgres'), servers.address('redis')]);
  signal.throwIfAborted();
  const created = environment['DATABASE_URL'] ? {} : { database: 'truckroll' };
  const { databaseUrls, adminUrls } = await provision({ adminUrl, own: ownServers(environment), secret: secrets.databasePassword, ...created });
  const bundles = await bundling;
  const signsIn = !hasOwnIssuer(environment);
  const tokens = tokenIssuer(state, signsIn ? `http://${formatAddress(loopback, await ports.take('token-issuer'))}` : undefined);
  const whole = await plan({ state, listening, ports, say, environment, databaseUrls, redisUrl, kafkaBrokers, secrets, bundles, tokens, signsIn });
  if (signsIn) {
    const issuer = await startLocalIssuer(state, whole.baseUrl, { address: whole.addresses['integrations']!, credential: secrets.callCredentials.operator });
    if (signal.aborted) await issuer.close();
    else signal.addEventListener('abort', () => void issuer.close(), { once: true });
  }
  writeJson(join(state, 'services.json'), whole.addresses);
  const inherited: NodeJS.ProcessEnv = { ...environment, DRAIN_TIMEOUT, ...(watched ? watchedNode(environment) : { NODE_COMPILE_CACHE: COMPILED }) };
  for (const name of ['DATABASE_URL', ...owners.map((owner) => databaseVariable(owner)), 'REDIS_URL', 'KAFKA_BROKERS', ...SECRET_NAMES])
    for (const each of [name, `${name}_FILE`]) delete inherited[each];
  signal.throwIfAborted();
  // Kafka takes longest to start. Processes serve without it until then, and their outboxes keep what they have to publish.
  const system = runSystem({ processes: whole.processes, state, watchdog, say, environment: inherited, signal });
  started.resolve(system);
  const withKafka = servers.all.then(async (all) => {
    signal.throwIfAborted();
    keepServers(all, say, signal);
    await system.kafkaIsAt(all.kafkaBrokers);
    return all.kafkaBrokers;
  });
  const withDemo = system.ready.then(async () => {
    signal.throwIfAborted();
    return await demoAccess(state, whole.baseUrl, inherited, signal).catch((error: unknown) => {
      if (!signal.aborted) say(describe(error));
      return undefined;
    });
  });
  const [brokers, access] = await Promise.all([withKafka, withDemo]);
  signal.throwIfAborted();
  const prometheusUrl = observed ? await observe({ state, address: loopback, ports, watchdog, say, processes: whole.processes }) : undefined;
  announce(state, whole, access, {
    ...(prometheusUrl === undefined ? {} : { prometheusUrl }),
    databaseUrls: adminUrls,
    redisUrl,
    kafkaBrokers: brokers,
  });
  process.stdout.write(welcome(whole, access, since(startedAt), prometheusUrl));
  // Earlier releases kept compiled code here.
  await rm(join(state, 'compile-cache'), { recursive: true, force: true });
  // It stops esbuild when it has finished, which the watch still needs.
  if (!watched) await bundleSupervisor().catch(() => undefined);
}

/** URLs of the servers of services that have one of their own. */
function ownServers(environment: NodeJS.ProcessEnv): Partial<Record<Owner, string>> {
  const named = owners.map((owner): [Owner, string | undefined] => [owner, environment[databaseVariable(owner)] || undefined]);
  return Object.fromEntries(named.filter(([, url]) => url !== undefined)) as Partial<Record<Owner, string>>;
}

async function bundledOnce(): Promise<ReadonlyMap<string, string>> {
  try {
    return await bundleSystem();
  } catch (error) {
    say(`The processes run from their modules, which could not be bundled: ${describe(error)}`);
    return new Map();
  }
}

async function watchBundles(state: string, started: Promise<System>, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const restart = (...changed: Parameters<System['replace']>): void => void started.then((system) => system.replace(...changed));
  try {
    return await watchSources({ components: SYSTEM, folder: join(state, 'watched'), restart, say, signal });
  } catch (error) {
    throw new Problem((error as Error).message);
  }
}

/** Bundles of the watch have source maps. They change too often to keep their compiled code. */
function watchedNode(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --enable-source-maps`, NODE_DISABLE_COMPILE_CACHE: '1' };
}

function announce(state: string, whole: StartPlan, access: DemoAccess | undefined, servers: object): void {
  writeJson(join(state, 'ready.json'), {
    baseUrl: whole.baseUrl,
    ...access,
    pid: process.pid,
    docsUrl: `${whole.baseUrl}/docs`,
    consoleUrl: `${whole.baseUrl}/console`,
    ...servers,
    services: whole.addresses,
    metrics: Object.fromEntries(whole.processes.map((one) => [one.name, `${one.metricsUrl}/metrics`])),
  });
}
