// What must not be noticed from outside: new versions of everything, and the end of any pod.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import type { Manifest } from './kubernetes.ts';
import type { Surroundings } from './uses.ts';

const COMPONENTS = ['gateway', 'scheduling', 'billing', 'reporting', 'integrations', 'dispatcher'];
const RATE = 20;
const PATIENCE_MS = 180_000;

/** Requests at a steady rate while every pod is replaced at once, and then while one pod of each component is deleted: none fails. */
export async function disruptions(use: Surroundings, image: string, apiKey: string): Promise<void> {
  const { cluster, say } = use;
  await cluster.kubectl('scale', '--replicas=2', ...COMPONENTS.map((name) => `deployment/truckroll-${name}`));
  for (const name of COMPONENTS) await cluster.kubectl('rollout', 'status', `deployment/truckroll-${name}`, '--timeout=240s');
  await cluster.apply(prober(image, apiKey));
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/prober', '--timeout=60s');
  const log = async (): Promise<any[]> => (await cluster.kubectl('logs', 'prober')).split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object);
  const counted = async (): Promise<{ good: number; failed: number }> => (await log()).findLast((line) => 'good' in line) ?? { good: 0, failed: 0 };
  const more = async (requests: number): Promise<void> => {
    const { good } = await counted();
    await until(async () => (await counted()).good >= good + requests, PATIENCE_MS);
  };
  await more(10 * RATE);

  const during = async (what: string, work: () => Promise<void>): Promise<void> => {
    const before = await counted();
    await work();
    // As long as a pod takes to drain: its last clients are still with it.
    await until(async () => (await terminating(use)) === 0, PATIENCE_MS);
    await more(5 * RATE);
    const after = await counted();
    say(`${what}: ${after.good - before.good} requests were answered, ${after.failed - before.failed} failed`);
  };
  await during('every pod replaced', async () => {
    await cluster.kubectl('rollout', 'restart', ...COMPONENTS.map((name) => `deployment/truckroll-${name}`));
    for (const name of COMPONENTS) await cluster.kubectl('rollout', 'status', `deployment/truckroll-${name}`, '--timeout=300s');
  });
  await during('a pod of each component deleted', async () => {
    for (const name of COMPONENTS) {
      const [pod] = await cluster.pods(name);
      await cluster.kubectl('delete', 'pod', pod!, '--wait=false');
      await until(async () => (await cluster.pods(name)).length === 2, PATIENCE_MS);
    }
  });
  const failures = (await log()).filter((line) => 'failure' in line);
  assert.deepEqual(failures.slice(0, 20), []);
}

async function terminating({ cluster }: Surroundings): Promise<number> {
  const times = await cluster.kubectl('get', 'pods', '--output', 'jsonpath={.items[*].metadata.deletionTimestamp}');
  return times.split(' ').filter(Boolean).length;
}

function prober(image: string, apiKey: string): Manifest {
  const source = readFileSync(join(import.meta.dirname, 'prober.mjs'), 'utf8');
  return {
    kind: 'Pod',
    metadata: { name: 'prober' },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{
        name: 'prober', image, imagePullPolicy: 'IfNotPresent', command: ['node', '--input-type=module', '--eval', source],
        env: [{ name: 'URL', value: 'http://truckroll-gateway' }, { name: 'KEY', value: apiKey }, { name: 'RATE', value: String(RATE) }],
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      }],
    },
  };
}
