// Disruptions that clients must not notice: upgrades and rollbacks, drained nodes, deleted pods, and outages of Redis and Kafka.
import { setTimeout as delay } from 'node:timers/promises';
import { components } from '@truckroll/contract';
import { CHART } from './installation.ts';
import { untilInCluster, type Cluster } from './kubernetes.ts';
import { WIRES } from './pods.ts';
import type { Traffic } from './traffic.ts';

const COMPONENTS = components.map(({ name, chartName = name }) => chartName);
const AWAY_MS = 20_000;

export interface Versions {
  readonly release: string;
  readonly next: string;
}

/** From the last release to the images under test, back without a migration, and forward again. */
export async function upgrades(cluster: Cluster, traffic: Traffic, values: string, { release, next }: Versions): Promise<void> {
  const upgrade = async (): Promise<void> => {
    await cluster.helm('upgrade', 'truckroll', CHART, '--values', values, '--set-string', `image.tag=${next}`, '--wait', '--timeout', '10m');
  };
  await traffic.during(`upgraded from ${release} to ${next}`, upgrade);
  await traffic.during(`rolled back to ${release}`, async () => void (await cluster.helm('rollback', 'truckroll', '1', '--wait', '--timeout', '10m')));
  await traffic.during(`upgraded to ${next} again`, upgrade);
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

export async function outages(cluster: Cluster, traffic: Traffic): Promise<void> {
  for (const name of ['redis', 'kafka']) {
    await traffic.during(`${name} away for ${AWAY_MS / 1000} s`, async () => {
      await cluster.ask('wires', WIRES.control, `/cut/${name}`);
      await delay(AWAY_MS);
      await cluster.ask('wires', WIRES.control, `/restore/${name}`);
    });
  }
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
