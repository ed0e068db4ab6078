import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { openChannel } from '@truckroll/grpc';
import { run } from '../../tools/cli/src/run.ts';
import type { Prepared } from './installation.ts';
import { untilInCluster, type Cluster } from './kubernetes.ts';
import { SINK_PORT } from './pods.ts';

export interface Surroundings {
  readonly cluster: Cluster;
  readonly company: Company;
  readonly baseUrl: string;
  readonly sinkUrl: string;
  readonly environment: Record<string, string>;
  readonly folder: string;
  readonly credential: Prepared['credential'];
  say(text: string): void;
}

export interface Company {
  readonly company_id: string;
  readonly user_id: string;
  readonly api_key: string;
}

export async function truckroll({ environment, folder }: Pick<Surroundings, 'environment' | 'folder'>, ...args: string[]): Promise<any> {
  let said = '';
  let complained = '';
  const code = await run([...args, '--json'], {
    env: environment,
    cwd: folder,
    signal: AbortSignal.timeout(300_000),
    stdout: { write: (text) => (said += text) },
    stderr: { write: (text) => (complained += text) },
  });
  assert.equal(code, 0, `truckroll ${args.join(' ')}: ${complained}`);
  return JSON.parse(said);
}

async function request({ baseUrl, company }: Surroundings, method: string, path: string, body?: object): Promise<{ status: number; body: any }> {
  const headers = {
    authorization: `Bearer ${company.api_key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
  };
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers,
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** `data` of an answer. Throws with the whole answer if the read failed. */
export async function read(use: Surroundings, path: string): Promise<any> {
  const { status, body } = await request(use, 'GET', path);
  assert.equal(status, 200, `GET ${path} was answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/** A visit without technicians, and a technician who can be added to it. */
export async function assignable(use: Surroundings): Promise<{ visit: any; member: any }> {
  const [visit] = await read(use, '/v1/job-appointments?dispatch_status=UNASSIGNED&canceled=false&limit=1');
  const [member] = await read(use, '/v1/team-members?assignable=true&status=ACTIVE&limit=1');
  assert.ok(visit !== undefined && member !== undefined, 'the company has no visit without technicians, or no technician who can be assigned');
  return { visit, member };
}

export async function readAndWrite(use: Surroundings): Promise<void> {
  const { visit, member } = await assignable(use);
  const change = {
    appointment_id: visit.id,
    team_member_id: member.id,
    expected_revision: visit.revision,
    starts_at: visit.starts_at,
    ends_at: visit.ends_at,
    allow_outside_window: true,
  };
  const written = await request(use, 'POST', '/v1/job-assignments', change);
  assert.equal(written.status, 201, JSON.stringify(written.body));
  const { assignments } = await read(use, `/v1/job-appointments/${visit.id}`);
  assert.deepEqual(
    assignments.map((each: any) => each.team_member.id),
    [member.id],
  );
  use.say('a read and a write through the gateway agree');
}

export async function subscribe({ company, credential, environment, sinkUrl }: Surroundings, path: string, ...eventTypes: string[]): Promise<Buffer> {
  const channel = openChannel(environment['INTEGRATIONS_ADDRESS']!, { credentials: [credential('gateway')] });
  try {
    const caller = { company_id: company.company_id, time_zone: 'America/Chicago', user_id: company.user_id };
    const { data } = await channel.client(WebhookServiceService).createWebhook({ caller, name: path, url: `${sinkUrl}${path}`, event_types: eventTypes });
    return Buffer.from((data as any).signing_secret.replace('whsec_', ''), 'base64');
  } finally {
    channel.close();
  }
}

export async function webhooks(use: Surroundings): Promise<void> {
  const secret = await subscribe(use, '/signed', 'service_request.created');
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1)
    ids.push((await truckroll(use, 'intake', 'request', '--company', use.company.company_id, '--channel', 'phone')).id);
  const arrived = (): Promise<Arrived[]> => received(use.cluster, '/signed');
  const subject = ({ body }: Arrived): string => (JSON.parse(body) as { data: { id: string } }).data.id;
  await untilInCluster(`${ids.length} signed webhooks`, arrived, ({ length }) => length >= ids.length);
  const requests = await arrived();
  assert.deepEqual(requests.map(subject).toSorted(), ids.toSorted());
  for (const { headers, body } of requests) {
    const signed = createHmac('sha256', secret).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${signed}`);
  }
  use.say(`${ids.length} webhooks arrived at a pod, signed, none twice`);
}

export interface Arrived {
  readonly headers: Record<string, string>;
  readonly body: string;
}

export async function received(cluster: Cluster, path: string): Promise<Arrived[]> {
  return JSON.parse(await cluster.ask('sink', SINK_PORT, path)) as Arrived[];
}

const LIST = 'truckroll.billing.v1.InvoiceService/ListInvoices';
const CALLS = 1000;

/** After scaling from one pod to three, each of them must take 20 to 47 % of the calls within a minute. */
export async function balanced(use: Surroundings): Promise<void> {
  const { cluster } = use;
  const list = (): Promise<unknown> => read(use, '/v1/invoices?limit=1');
  const scale = async (replicas: number): Promise<void> => {
    await cluster.kubectl('scale', 'deployment/truckroll-billing', `--replicas=${replicas}`);
    const pods = () => cluster.kubectl('get', 'pods', '--selector', 'app.kubernetes.io/component=billing', '--output', 'name');
    await untilInCluster(`${replicas} pods of billing`, pods, (names) => names.trim().split('\n').length === replicas);
  };
  await scale(1);
  await scale(3);
  await cluster.kubectl('rollout', 'status', 'deployment/truckroll-billing', '--timeout=180s');
  const scaledAt = performance.now();
  const pods = await cluster.pods('billing');
  assert.equal(pods.length, 3);
  const counts = (): Promise<number[]> => Promise.all(pods.map(async (pod) => served(await cluster.ask(pod, 51052, '/metrics'))));
  const fresh = await counts();
  const countsLater = async (): Promise<number[]> => {
    for (let count = 0; count < 6; count += 1) await list();
    return counts();
  };
  await untilInCluster('calls to every pod', countsLater, (later) => later.every((count, index) => count > fresh[index]!));
  const seconds = (performance.now() - scaledAt) / 1000;
  assert.ok(seconds <= 60, `all pods are used after ${seconds} s`);
  const before = await counts();
  for (let left = CALLS; left > 0; left -= 20) await Promise.all(Array.from({ length: 20 }, list));
  const shares = (await counts()).map((count, index) => (count - before[index]!) / CALLS);
  use.say(
    `billing from 1 to 3 pods: all are used after ${seconds.toFixed(0)} s, of ${CALLS} calls they take ${shares.map((share) => `${(share * 100).toFixed(1)} %`).join(', ')}`,
  );
  for (const share of shares) assert.ok(share >= 0.2 && share <= 0.47, `a pod takes ${share}`);
}

function served(metrics: string): number {
  const line = metrics
    .split('\n')
    .find((each) => each.startsWith('rpc_server_call_duration_seconds_count') && each.includes(`"${LIST}"`) && each.includes('rpc_response_status_code="OK"'));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
}
