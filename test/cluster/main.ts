// `npm run test:cluster`: installs the last release on the cluster of KUBECONFIG, upgrades and disrupts it under a steady load, uses it as
// integrators do, and restores it from a backup. It removes everything afterwards.
// REDIS_URL and KAFKA_BROKERS must be reachable from this machine and from pods. PostgreSQL is started at SERVERS_ADDRESS, an address of this
// machine that pods reach. DATABASE_URL names another one instead, which is neither stopped nor restored. IMAGE_REPOSITORY and IMAGE_TAG name
// images that the cluster has or can pull, RELEASE_TAG those of the last release. NAMESPACE must not exist yet. HELM is a helm to use instead
// of the pinned one, CHART a published chart instead of the checkout's, DIGESTS the digests.yaml of its release. `--only losses,uses` runs only
// these parts; without `upgrades` the images under test are installed directly.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addressVariable, components } from '@truckroll/contract';
import { ConfigError, env, readConfig } from '@truckroll/process';
import { chartTools } from '../../deploy/chart-tools.mjs';
import { startBackedUpServer } from '../restore/server.ts';
import { lastRelease } from '../support/releases.ts';
import { losses, outages, upgrades } from './disruptions.ts';
import { chartOf, prepare, workFolder, type Prepared } from './installation.ts';
import { Cluster, untilInCluster } from './kubernetes.ts';
import { restore } from './restore.ts';
import { startTraffic } from './traffic.ts';
import { balanced, readAndWrite, truckroll, webhooks, type Company, type Surroundings } from './uses.ts';

const settings = {
  databaseUrl: env.optionalUrl('DATABASE_URL', ['postgres', 'postgresql']),
  address: env.string('SERVERS_ADDRESS', '127.0.0.1'),
  helm: env.string('HELM', ''),
  redisUrl: env.url('REDIS_URL', ['redis', 'rediss']),
  kafkaBrokers: env.string('KAFKA_BROKERS'),
  repository: env.string('IMAGE_REPOSITORY'),
  tag: env.string('IMAGE_TAG'),
  releaseTag: env.string('RELEASE_TAG', lastRelease.version),
  chart: env.string('CHART', ''),
  digests: env.string('DIGESTS', ''),
  namespace: env.string('NAMESPACE', `truckroll-test-${process.pid}`),
};
const PARTS = ['upgrades', 'losses', 'outages', 'uses', 'restore'] as const;
const startedAt = performance.now();

function say(text: string): void {
  process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);
}

type Reached = Pick<Surroundings, 'baseUrl' | 'environment'>;

/** Forwards the installation's ports to this machine. Must be repeated when pods change. */
async function reach(cluster: Cluster, { credential }: Prepared): Promise<Reached> {
  await cluster.leave();
  const addresses = components
    .filter(({ postgresql }) => postgresql)
    .map(async ({ name, port }) => [addressVariable(name), await cluster.forward(`service/truckroll-${name}`, port)]);
  const baseUrl = `http://${await cluster.forward('service/truckroll-gateway', 80)}`;
  const environment = { ...Object.fromEntries(await Promise.all(addresses)), TRUCKROLL_URL: baseUrl, CALL_CREDENTIAL: credential('operator').text } as Record<
    string,
    string
  >;
  return { baseUrl, environment };
}

function chosenParts(): Set<string> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: PARTS.join() } } });
  const chosen = new Set(values.only.split(','));
  for (const part of chosen) if (!(PARTS as readonly string[]).includes(part)) throw new ConfigError(`--only takes ${PARTS.join(', ')}, not ${part}`);
  return chosen;
}

async function test(): Promise<void> {
  const parts = chosenParts();
  const { namespace, repository, tag, releaseTag, helm, address, databaseUrl, chart, digests, ...servers } = readConfig(settings, process.env);
  const cluster = new Cluster(namespace, helm || join(chartTools(), 'helm'));
  const installed = chartOf(chart, digests);
  if (digests !== '' && parts.delete('upgrades')) {
    say('not run, because DIGESTS pins one release: upgrades');
    if (parts.size === 0) throw new ConfigError('Leave DIGESTS out to run the part upgrades.');
  }
  const work = workFolder();
  const folder = work.path;
  mkdirSync(join(folder, '.truckroll'));
  let prepared: Prepared | undefined;
  const postgres = databaseUrl === undefined ? await startBackedUpServer(address) : undefined;
  if (postgres === undefined && parts.delete('restore')) say('not run, because DATABASE_URL names a server: restore, and PostgreSQL away');
  if (parts.size === 0) throw new ConfigError('Leave DATABASE_URL out to run the part restore.');
  try {
    prepared = await prepare(cluster, { ...servers, databaseUrl: databaseUrl ?? postgres!.url }, { repository, tag });
    say(`${(await cluster.helm('version', '--short')).trim()} prepared namespace ${namespace}, which enforces PodSecurity restricted`);
    const values = join(folder, 'values.json');
    writeFileSync(values, JSON.stringify(prepared.values));
    const first = parts.has('upgrades') ? releaseTag : tag;
    await cluster.helm('install', 'truckroll', ...installed, '--values', values, '--set-string', `image.tag=${first}`, '--wait', '--timeout', '10m');
    say(`helm install of ${first}: migrated, every pod is ready`);

    const { credential, sinkUrl } = prepared;
    const reached = await reach(cluster, prepared);
    const company = (await truckroll({ ...reached, folder }, 'demo', '--size', '60', '--seed', '7')) as Company;
    const use: Surroundings = { cluster, company, sinkUrl, folder, credential, say, ...reached };
    const again = async (): Promise<Surroundings> => ({ ...use, ...(await reach(cluster, prepared!)) });
    say('imported a made-up company');
    const traffic = await startTraffic(use, `${repository}/truckroll:${tag}`);
    if (parts.has('upgrades')) await upgrades(cluster, traffic, [...installed, '--values', values], { release: releaseTag, next: tag });
    if (parts.has('losses')) await losses(cluster, traffic);
    if (parts.has('outages')) await outages(cluster, traffic, postgres);
    await traffic.end();
    if (parts.has('uses')) await uses(await again());
    if (parts.has('restore')) await restore(await again(), { postgres: postgres!, prepared, image: `${repository}/truckroll:${tag}`, reach: again });
    await uninstall(cluster);
    say('helm uninstall leaves nothing behind');
    say(`passed: ${[...parts].join(', ')}`);
  } catch (error) {
    say(await cluster.kubectl('get', 'pods,jobs', '--output', 'wide').catch(String));
    const log = await cluster.kubectl('logs', '--selector', 'app.kubernetes.io/instance=truckroll', '--tail=2000', '--prefix', '--ignore-errors').catch(String);
    say(
      log
        .split('\n')
        .filter((line) => /"level":"(warn|error)"/.test(line))
        .slice(-40)
        .join('\n'),
    );
    throw error;
  } finally {
    await cluster.leave();
    await cluster.kubectl('delete', 'namespace', namespace, '--ignore-not-found', '--timeout', '120s').catch((error: unknown) => say(String(error)));
    await prepared?.remove();
    await postgres?.close();
    work.remove();
  }
}

async function uninstall(cluster: Cluster): Promise<void> {
  await cluster.helm('uninstall', 'truckroll', '--wait', '--timeout', '3m');
  const kinds = 'deployments,replicasets,jobs,pods,services,serviceaccounts,configmaps,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers';
  const left = () => cluster.kubectl('get', kinds, '--selector', 'app.kubernetes.io/instance=truckroll', '--output', 'name');
  await untilInCluster('nothing of the release', left, (names) => names.trim() === '');
}

async function uses(use: Surroundings): Promise<void> {
  await use.cluster.helm('test', 'truckroll', '--timeout', '3m');
  use.say('helm test passes');
  await readAndWrite(use);
  await webhooks(use);
  await balanced(use);
}

await test().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError || !(error instanceof Error) ? String((error as Error).message) : error.stack}\n`);
  process.exitCode = 1;
});
