// The restore of docs/how-to/back-up-and-restore.md on Kubernetes, with the Jobs of deploy/examples.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { components } from '@truckroll/contract';
import { parse } from 'yaml';
import type { BackedUpServer } from '../restore/server.ts';
import type { Prepared } from './installation.ts';
import { untilInCluster, type Cluster, type Manifest } from './kubernetes.ts';
import { read, received, subscribe, truckroll, type Surroundings } from './uses.ts';

const EXAMPLES = join(import.meta.dirname, '../../deploy/examples');
const SINK = '/restored';
const MOMENT = 'before the accident';
const REPLICAS = 2;

interface Restored {
  readonly postgres: BackedUpServer;
  readonly prepared: Prepared;
  readonly image: string;
  /** Reaches the pods that there are now. */
  reach(): Promise<Surroundings>;
}

/** A request from after the moment is lost, and said to be; everything from before it is there and agrees. */
export async function restore(use: Surroundings, { postgres, prepared, image, reach }: Restored): Promise<void> {
  const { cluster, company, say } = use;
  const record = async (): Promise<string> => (await truckroll(use, 'intake', 'request', '--company', company.company_id, '--channel', 'phone')).id;
  await subscribe(use, SINK, 'service_request.created');
  const kept = await record();
  await postgres.name(MOMENT);
  const lost = await record();
  const arrived = async (): Promise<string[]> => (await received(cluster, SINK)).map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
  await untilInCluster('the webhooks of both requests', arrived, (ids) => ids.includes(kept) && ids.includes(lost));

  await cluster.kubectl('scale', 'deployment', '--selector', 'app.kubernetes.io/instance=truckroll', '--replicas=0');
  const pods = (): Promise<string> => cluster.kubectl('get', 'pods', '--selector', 'app.kubernetes.io/instance=truckroll', '--output', 'name');
  await untilInCluster('no pod of the release', pods, (names) => names.trim() === '');
  await postgres.restore(MOMENT);
  say('every Deployment is scaled to 0, and PostgreSQL restored');

  const job = await exampleJob(cluster, 'restored-job.yaml', image, prepared.variables);
  const restored = JSON.parse((await finished(cluster, job)).trim().split('\n').at(-1)!) as { epoch: unknown; undone: unknown[] };
  assert.match(JSON.stringify(restored.undone), new RegExp(lost), 'the event of the lost request is not reported');
  say(`truckroll restored: epoch ${String(restored.epoch)}, ${restored.undone.length} published events are not in the restored database`);

  for (const { name, chartName = name } of components) await cluster.kubectl('scale', `deployment/truckroll-${chartName}`, `--replicas=${REPLICAS}`);
  for (const { name, chartName = name } of components) await cluster.kubectl('rollout', 'status', `deployment/truckroll-${chartName}`, '--timeout=240s');
  const verified = await finished(cluster, await exampleJob(cluster, 'verify-job.yaml', image, {}));
  say(`truckroll verify: ${verified.trim().split('\n').join('; ')}`);
  await cluster.kubectl('delete', 'job', 'truckroll-restored', 'truckroll-verify');
  const newest = (await read(await reach(), '/api/v1/integrations/service-requests?limit=10')).map(({ id }: { id: string }) => id);
  assert.ok(newest.includes(kept) && !newest.includes(lost), `${kept} is kept and ${lost} lost, and the newest are ${newest.join(', ')}`);
}

interface Container {
  image: string;
  env: { name: string; value?: string }[];
}

/** Applies a Job of deploy/examples with this installation's image, namespace and addresses. Returns its name. */
async function exampleJob(cluster: Cluster, file: string, image: string, variables: Record<string, string>): Promise<string> {
  const manifest = parse(readFileSync(join(EXAMPLES, file), 'utf8')) as Manifest & {
    metadata: { name: string; namespace: string };
    spec: { template: { spec: { containers: [Container] } } };
  };
  manifest.metadata.namespace = cluster.namespace;
  const [container] = manifest.spec.template.spec.containers;
  container.image = image;
  for (const variable of container.env) if (variable.name in variables) variable.value = variables[variable.name]!;
  await cluster.apply(manifest);
  return manifest.metadata.name;
}

/** Waits until a Job has ended, and returns what its successful pod printed. Throws with the last log if it failed. */
async function finished(cluster: Cluster, job: string): Promise<string> {
  const condition = () => cluster.kubectl('get', 'job', job, '--output', 'jsonpath={.status.conditions[?(@.status=="True")].type}');
  const ended = await untilInCluster(`the end of ${job}`, condition, (types) => /Complete|Failed/.test(types));
  const phase = ended.includes('Complete') ? 'Succeeded' : 'Failed';
  const pods = await cluster.kubectl('get', 'pods', '--selector', `job-name=${job}`, '--field-selector', `status.phase=${phase}`, '--output', 'name');
  const log = await cluster.kubectl('logs', pods.trim().split('\n').at(-1)!);
  assert.equal(phase, 'Succeeded', log);
  return log;
}
