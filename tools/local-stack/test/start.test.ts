import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
  await until('the file, or the end of the process', () => existsSync(file) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`the start ended with ${child.exitCode}: ${said()}`);
  return { child, exited, file, ready: JSON.parse(readFileSync(file, 'utf8')) as Ready };
}

async function read(ready: Ready, token: string) {
  const answer = await fetch(`${ready.baseUrl}/v1/invoices?limit=2`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: (await answer.json()) as { data: { id: string }[] } };
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
  const chosen = await signInAsFirst(first.ready.baseUrl);
  expect(chosen.offered).toEqual(['Dana Demo', 'Dana Demo']);
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
