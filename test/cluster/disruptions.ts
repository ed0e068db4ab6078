// Disruptions that clients must not notice: upgrades and rollbacks, drained nodes, deleted pods, and outages of Redis and Kafka; and one of PostgreSQL, which
// they notice.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { components } from '@truckroll/contract';
import type { BackedUpServer } from '../restore/server.ts';
import { untilInCluster, type Cluster } from './kubernetes.ts';
import { WIRES } from './pods.ts';
import type { Traffic } from './traffic.ts';

const COMPONENTS = components.map(({ name, chartName = name }) => chartName);
const AWAY_MS = 20_000;

export interface Versions {
  readonly release: string;
  readonly next: string;
}

/** The order of docs/how-to/upgrade.md, by the names of images. */
const STEPS = [['integrations'], ['webhook-dispatcher'], ['gateway'], ['billing', 'reporting'], ['scheduling']] as const;
const SCALED = 3;

/**
 * From the last release to the images under test, one component after the other, back without a migration, and forward again at once. Before,
 * an operator scales three components and edits one with kubectl. `chart` is what helm takes for it, with its values.
 */
export async function upgrades(cluster: Cluster, traffic: Traffic, chart: readonly string[], { release, next }: Versions): Promise<void> {
  // Helm 3 neither reports conflicts nor knows the option.
  const reportsConflicts = !(await cluster.helm('version', '--short')).startsWith('v3');
  const force = reportsConflicts ? ['--force-conflicts'] : [];
  const helm = (command: string, ...args: string[]): Promise<string> => cluster.helm(command, 'truckroll', ...args, '--wait', '--timeout', '10m');
  // Reporting's pods belong to an autoscaler outside the chart, and billing's soon to one of the chart.
  const autoscalers = ['--set', 'reporting.replicas=null,billing.autoscaling.enabled=true'];
  const upgrade = (...args: string[]): Promise<string> => helm('upgrade', ...chart, ...autoscalers, ...args);
  await traffic.during('scaled and edited with kubectl', async () => {
    for (const name of ['reporting', 'billing', 'gateway']) await cluster.kubectl('scale', `deployment/truckroll-${name}`, `--replicas=${SCALED}`);
    await cluster.kubectl('set', 'env', 'deployment/truckroll-gateway', 'LOG_LEVEL=warn');
    for (const name of COMPONENTS) await cluster.kubectl('rollout', 'status', `deployment/truckroll-${name}`, '--timeout=180s');
  });

  if (reportsConflicts)
    await assert.rejects(upgrade('--set-string', `image.tag=${release}`), /conflict/, 'Helm reports that kubectl changed fields of the chart');
  const moved = ['truckroll'];
  for (const step of STEPS) {
    moved.push(...step);
    const tags = moved.map((image) => `image.tags.${image}=${next}`).join();
    await traffic.during(`${step.join(' and ')} upgraded from ${release} to ${next}`, async () => {
      await upgrade('--set-string', `image.tag=${release},${tags}`, ...force);
      for (const name of ['reporting', 'billing']) assert.equal(await replicasOf(cluster, name), SCALED, `helm upgrade changed the number of ${name}'s pods`);
    });
  }
  assert.equal(await replicasOf(cluster, 'gateway'), 2, 'the number of pods in the values applies again');
  await traffic.during(`rolled back to ${release}`, async () => void (await helm('rollback', '1', ...force)));
  await traffic.during(`upgraded to ${next} at once`, async () => void (await upgrade('--set-string', `image.tag=${next}`)));
  await traffic.during('back under the numbers of the values', async () => {
    await helm('upgrade', ...chart, '--set-string', `image.tag=${next}`, ...force);
  });
}

async function replicasOf(cluster: Cluster, component: string): Promise<number> {
  return Number(await cluster.kubectl('get', 'deployment', `truckroll-${component}`, '--output', 'jsonpath={.spec.replicas}'));
}

export async function losses(cluster: Cluster, traffic: Traffic): Promise<void> {
  for (const name of COMPONENTS) {
    await traffic.during(`every pod of ${name} evicted`, async () => {
      for (const pod of await cluster.pods(name)) {
        await evict(cluster, pod);
        await replaced(cluster, name, pod);
      }
    });
  }
  await traffic.during('a pod of each component deleted', async () => {
    for (const name of COMPONENTS) {
      const [pod = ''] = await cluster.pods(name);
      await cluster.kubectl('delete', 'pod', pod, '--wait=false');
      await replaced(cluster, name, pod);
    }
  });
}

export async function outages(cluster: Cluster, traffic: Traffic, postgres: BackedUpServer | undefined): Promise<void> {
  for (const name of ['redis', 'kafka']) {
    await traffic.during(`${name} away for ${AWAY_MS / 1000} s`, async () => {
      await cluster.ask('wires', WIRES.control, `/cut/${name}`);
      await delay(AWAY_MS);
      await cluster.ask('wires', WIRES.control, `/restore/${name}`);
    });
  }
  if (!postgres) return;
  await traffic.refused(`PostgreSQL away for ${AWAY_MS / 1000} s`, async () => {
    await postgres.stop();
    await delay(AWAY_MS);
    await postgres.start();
  });
}

/** Like `kubectl drain`: retries while the disruption budget refuses. */
async function evict(cluster: Cluster, pod: string): Promise<void> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: cluster.namespace } };
  await untilInCluster(`the eviction of ${pod}`, () =>
    cluster.create(`/api/v1/namespaces/${cluster.namespace}/pods/${pod}/eviction`, eviction).then(
      () => true,
      (error: unknown) => {
        if (/TooManyRequests|disruption budget/.test(String(error))) return false;
        throw error;
      },
    ),
  );
}

async function replaced(cluster: Cluster, component: string, pod: string): Promise<void> {
  await untilInCluster(
    `two pods of ${component} without ${pod}`,
    () => cluster.pods(component),
    (pods) => pods.length === 2 && !pods.includes(pod),
  );
}
