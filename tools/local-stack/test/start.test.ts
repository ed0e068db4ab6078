import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { openChannel, parseCallCredential, type Callers } from '@truckroll/grpc';
import { until } from '@truckroll/testing/until';
import { identify, isRunning } from '../src/processes/identity.ts';
import type { Watched } from '../src/processes/stop-in-order.ts';
import { prometheus } from '../src/prometheus.ts';
import { silent } from '../src/say.ts';
import { isReady } from '../src/start/readiness.ts';
import { signInAsFirst } from './sign-in.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

/** A start begins eleven processes: while other tests run, it may take more than a minute. */
const AT_MOST_MS = 120_000;

interface Ready {
  baseUrl: string;
  apiKey: string;
  userToken: string;
  otherApiKey: string;
  pid: number;
  prometheusUrl?: string;
}

async function start(state: string, ...options: string[]) {
  const { child, said } = scratch.program('start.ts', state, ...options);
  const file = join(state, 'ready.json');
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await until('the file, or the end of the process', () => existsSync(file) || child.exitCode !== null, Boolean, { atMostMs: AT_MOST_MS });
  if (child.exitCode !== null) throw new Error(`the start ended with ${child.exitCode}: ${said()}`);
  return { child, exited, file, ready: JSON.parse(readFileSync(file, 'utf8')) as Ready };
}

async function read(ready: Ready, token: string) {
  const answer = await fetch(`${ready.baseUrl}/v1/invoices?limit=2`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: (await answer.json()) as { data: { id: string }[] } };
}

/** Calls the service integrations as the command line does. */
async function admin<T>(state: string, call: (users: Callers<typeof UserAdminServiceService>) => Promise<T>): Promise<T> {
  const kept = (name: string) => JSON.parse(readFileSync(join(state, name), 'utf8'));
  const channel = openChannel(kept('services.json').integrations, { credentials: [parseCallCredential(kept('secrets.json').callCredentials.operator)!] });
  try {
    return await call(channel.client(UserAdminServiceService));
  } finally {
    channel.close();
  }
}

async function createUser(state: string, ready: Ready, first_name: string): Promise<string> {
  const company = await fetch(`${ready.baseUrl}/v1/company`, { headers: { authorization: `Bearer ${ready.apiKey}` } });
  const { data } = (await company.json()) as { data: { id: string } };
  const names = { first_name, last_name: 'Ruiz', email: `${first_name}@example.com` };
  return (await admin(state, (users) => users.createUser({ company_id: data.id, ...names }))).user!.id;
}

/** Nothing listens there. */
const DEAD_PROXIES = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) =>
  [name, name.toUpperCase()].map((each) => `${each}=http://127.0.0.1:1`),
);

test('one command starts a company that can be read, stops everything, and finds the company again: by IPv6, past proxies, in a folder of any name', async () => {
  const folder = join(scratch.folder(), "it's a,b #1 %20 é?");
  mkdirSync(folder);
  const state = join(folder, '.truckroll');
  const first = await start(state, 'HOST=::1', ...DEAD_PROXIES);
  expect(first.ready.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect(existsSync(join(state, 'kafka/data/meta.properties'))).toBe(true);
  expect(first.ready.pid).toBe(first.child.pid);
  expect(statSync(first.file).mode & 0o777).toBe(0o600);
  expect(statSync(state).mode & 0o777).toBe(0o700);
  const [own, byUser, other] = await Promise.all([first.ready.apiKey, first.ready.userToken, first.ready.otherApiKey].map((token) => read(first.ready, token)));
  expect([own, byUser, other].map((answer) => answer?.status)).toEqual([200, 200, 200]);
  expect(own!.body.data).toHaveLength(2);
  expect(byUser!.body.data).toEqual(own!.body.data);
  expect(other!.body.data.map(({ id }) => id)).not.toEqual(own!.body.data.map(({ id }) => id));
  const [createdId, leftId] = await Promise.all([createUser(state, first.ready, 'Ana'), createUser(state, first.ready, 'Ben')]);
  expect(createdId).not.toBe(leftId);
  await admin(state, (users) => users.deactivateUser({ id: leftId }));
  const chosen = await signInAsFirst(first.ready.baseUrl);
  expect(chosen.offered).toEqual(['Dana Demo', 'Ana Ruiz', 'Dana Demo']);
  expect((await read(first.ready, chosen.token)).body.data).toEqual(own!.body.data);

  const running = JSON.parse(readFileSync(join(state, 'processes.json'), 'utf8')) as Watched[];
  expect(running.filter(({ order }) => order === 'server')).toHaveLength(3);
  const ours = running
    .filter(({ order }) => order !== 'server')
    .map(({ pid }) => execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }));
  expect(ours).toHaveLength(6);
  for (const command of ours) expect(command).toContain('node_modules/.cache/bundles/');
  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(running.some((one) => isRunning(one))).toBe(false);
  expect(existsSync(first.file)).toBe(false);
  expect(await isReady(`${first.ready.baseUrl}/readyz`)).toBe(false);

  await prometheus('prometheus', silent);
  const second = await start(state, '--observe');
  expect(second.ready).toMatchObject({
    baseUrl: first.ready.baseUrl.replace('[::1]', '127.0.0.1'),
    apiKey: first.ready.apiKey,
    otherApiKey: first.ready.otherApiKey,
  });
  expect((await read(second.ready, second.ready.apiKey)).body.data).toEqual(own!.body.data);
  const ask = async (path: string) => ((await (await fetch(`${second.ready.prometheusUrl}/api/v1/${path}`)).json()) as { data: any }).data;
  await until('six builds', async () => (await ask('query?query=build_info')).result.length === 6);
  expect((await ask('rules')).groups.map(({ name }: { name: string }) => name).sort()).toEqual(['truckroll', 'truckroll-slo']);
  const identities = (JSON.parse(readFileSync(join(state, 'processes.json'), 'utf8')) as Watched[]).map(({ pid }) => identify(pid)!);
  second.child.kill('SIGKILL');
  await until('the ends of the processes', () => identities.every((identity) => !isRunning(identity)));
}, 300_000);
