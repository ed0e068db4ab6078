// `npm run test:cluster`: installs the chart on the cluster of KUBECONFIG and uses it as integrators do. Nothing of it is
// left afterwards. DATABASE_URL, REDIS_URL and KAFKA_BROKERS name servers at addresses that this machine and pods reach;
// IMAGE_REPOSITORY and IMAGE_TAG images that the cluster can pull or has; NAMESPACE one that is not there yet.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, env, readConfig } from '@truckroll/service-kit';
import { chartTools } from '../../deploy/chart-tools.mjs';
import { disruptions } from './disruptions.ts';
import { prepare, workFolder, CHART, type Prepared } from './installation.ts';
import { Cluster } from './kubernetes.ts';
import { balanced, readAndWrite, webhooks, type Surroundings } from './uses.ts';

const settings = {
  databaseUrl: env.url('DATABASE_URL'),
  redisUrl: env.url('REDIS_URL'),
  kafkaBrokers: env.string('KAFKA_BROKERS'),
  repository: env.string('IMAGE_REPOSITORY'),
  tag: env.string('IMAGE_TAG'),
  namespace: env.string('NAMESPACE', `truckroll-test-${process.pid}`),
};
const PORTS = { integrations: 50054, scheduling: 50051, billing: 50052, reporting: 50053 };
const startedAt = performance.now();

function say(text: string): void {
  process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);
}

async function surroundings(cluster: Cluster, { credential, sinkUrl }: Prepared, folder: string): Promise<Surroundings> {
  const addresses = Object.entries(PORTS).map(async ([name, port]) => [`${name.toUpperCase()}_ADDRESS`, await cluster.forward(`service/truckroll-${name}`, port)]);
  const baseUrl = `http://${await cluster.forward('service/truckroll-gateway', 80)}`;
  const environment = { ...Object.fromEntries(await Promise.all(addresses)), TRUCKROLL_URL: baseUrl, CALL_CREDENTIAL: credential('operator').text } as Record<string, string>;
  mkdirSync(join(folder, '.truckroll'));
  return { cluster, baseUrl, sinkUrl, environment, folder, credential, say };
}

async function test(): Promise<void> {
  const { namespace, repository, tag, ...servers } = readConfig(settings, process.env);
  const cluster = new Cluster(namespace, join(chartTools(), 'helm'));
  const folder = workFolder();
  let prepared: Prepared | undefined;
  try {
    prepared = await prepare(cluster, servers, { repository, tag });
    say(`prepared namespace ${namespace}, which enforces PodSecurity restricted`);
    const values = join(folder.path, 'values.json');
    writeFileSync(values, JSON.stringify(prepared.values));
    await cluster.helm('install', 'truckroll', CHART, '--values', values, '--wait', '--timeout', '8m');
    say('helm install: migrated, every pod is ready');
    await cluster.helm('test', 'truckroll', '--timeout', '3m');
    say('helm test passes');
    const use = await surroundings(cluster, prepared, folder.path);
    const { api_key: apiKey } = await readAndWrite(use);
    await webhooks(use);
    await balanced(use);
    await disruptions(use, `${repository}/truckroll:${tag}`, apiKey);
    say('passed');
  } catch (error) {
    say(await cluster.kubectl('get', 'pods,jobs', '--output', 'wide').catch(String));
    const log = await cluster.kubectl('logs', '--selector', 'app.kubernetes.io/instance=truckroll', '--tail=2000', '--prefix', '--ignore-errors').catch(String);
    say(log.split('\n').filter((line) => /"level":"(warn|error)"/.test(line)).slice(-40).join('\n'));
    throw error;
  } finally {
    await cluster.leave();
    await cluster.kubectl('delete', 'namespace', namespace, '--ignore-not-found', '--timeout', '120s').catch((error: unknown) => say(String(error)));
    await prepared?.remove();
    folder.remove();
  }
}

await test().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError || !(error instanceof Error) ? String((error as Error).message) : error.stack}\n`);
  process.exitCode = 1;
});
