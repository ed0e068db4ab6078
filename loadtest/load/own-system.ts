// The whole system as in production, for one run: with unreachable limits, and companies of three sizes.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import type { DemoOptions } from '@truckroll/demo-company';
import { Problem, STATE, say, tokenIssuer } from '@truckroll/local-stack';
import { ENDPOINTS } from '../k6/scenarios/webhooks.ts';
import { emptyCompany, type BenchmarkCompany } from '../data/companies.ts';
import { importCompany, type Channels } from '../data/import.ts';
import { childrenByParent, type Groups } from '../measure/cpu.ts';
import { KeyFile } from '../system/operator.ts';
import { once, settle, withClient } from '../system/postgres.ts';
import { groupsOf, startDispatcher, startSystem } from '../system/programs.ts';
import { Stack, type Running } from '../system/stack.ts';
import { chartNodeOptions } from './chart.ts';

export const FOLDER = join(STATE, 'load');
const DATABASE = 'truckroll_load';
const SEEDS = { usual: 11, huge: 12 };
/** Cores of the generator, which this process shares, and of the system. */
export const CORES = { generator: 0, system: 1 };

export interface Target {
  readonly env: Readonly<Record<'BASE_URL' | 'API_KEY', string>> & Readonly<Partial<Record<'API_KEY_HUGE' | 'API_KEY_EMPTY' | 'USER_TOKEN', string>>>;
  readonly groups: Groups;
  readonly system?: OwnSystem;
}

export interface OwnSystem {
  readonly gateway: Running;
  close(): Promise<void>;
}

export async function startOwnSystem({ jobs, pinned }: { jobs: number; pinned: boolean }): Promise<Target> {
  if (pinned && availableParallelism() < 2) throw new Problem('--pinned needs two cores: one for k6 and one for the system.');
  const stack = await Stack.start(DATABASE, FOLDER, chartNodeOptions());
  try {
    return await startPrograms(stack, jobs, pinned);
  } catch (error) {
    await stack.close();
    throw error;
  }
}

async function startPrograms(stack: Stack, jobs: number, pinned: boolean): Promise<Target> {
  const { issuer, audience, jwksFile } = tokenIssuer(STATE);
  const tokens = { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: jwksFile };
  const { services, gateway, operator } = await startSystem(stack, owners, tokens);
  const dispatcher = await startDispatcher(stack, services);
  const keys = new KeyFile(join(FOLDER, 'keys.json'));
  const companies = { usual: emptyCompany('load, usual'), huge: emptyCompany(`load, huge ${jobs}`), empty: emptyCompany('load, empty') };
  for (const company of Object.values(companies)) await operator.createCompany(company);
  await makeRecords(stack, services.channels, companies.usual, { seed: SEEDS.usual, size: 'small' });
  await makeRecords(stack, services.channels, companies.huge, { seed: SEEDS.huge, size: jobs });
  const env = {
    BASE_URL: `http://127.0.0.1:${gateway.port}`,
    API_KEY: await keys.of(companies.usual.id, operator),
    API_KEY_HUGE: await keys.of(companies.huge.id, operator),
    API_KEY_EMPTY: await keys.of(companies.empty.id, operator),
    USER_TOKEN: await operator.token(companies.usual.id),
  };
  await removeEndpoints(env.BASE_URL, env.USER_TOKEN);
  for (const key of [env.API_KEY, env.API_KEY_HUGE]) await reported(env.BASE_URL, key);
  const groups = await groupsOf(stack, { gateway, ...services.running, dispatcher });
  if (pinned) for (const pids of Object.values(groups)) for (const pid of pids) pin(pid, CORES.system);
  if (pinned) pin(process.pid, CORES.generator, false);
  return { env, groups, system: { gateway, close: () => stack.close() } };
}

function makeRecords(stack: Stack, channels: Channels, { id, name }: BenchmarkCompany, options: Pick<DemoOptions, 'seed' | 'size'>): Promise<void> {
  return withClient(stack, (client) =>
    once(client, `${name} ${JSON.stringify(options)}`, async () => {
      say(`making the records of ${name}, once …`);
      await importCompany(channels, id, options, ['scheduling', 'billing', 'reporting']);
      await settle(client, ['scheduling', 'billing']);
    }),
  );
}

/** Removes the endpoints of interrupted runs, which count towards the company's limit. */
async function removeEndpoints(baseUrl: string, token: string): Promise<void> {
  const ask = async (path: string, method?: 'DELETE'): Promise<Response> => {
    const answer = await fetch(`${baseUrl}${path}`, { ...(method && { method }), headers: { authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(`${method ?? 'GET'} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const { data } = (await (await ask(ENDPOINTS)).json()) as { data: { id: string }[] };
  for (const { id } of data) await ask(`${ENDPOINTS}/${id}`, 'DELETE');
}

/** Resolves when reporting has applied all of the company's records, so that it does not work during the measurement. */
async function reported(baseUrl: string, key: string): Promise<void> {
  for (const asked = Date.now(); ; ) {
    const answer = await fetch(`${baseUrl}/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-02-01`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { report } = (await answer.json()) as { report?: { as_of?: string } };
    if (answer.status === 200 && Date.parse(report?.as_of ?? '') >= asked) return;
    await delay(500);
  }
}

/** Pins a process with its threads and children to one core; later children inherit it. */
function pin(pid: number, core: number, children = true): void {
  const { status } = spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
  if (status !== 0) throw new Problem('taskset, which gives a process its core, is missing: install util-linux.');
  if (children) for (const child of childrenByParent().get(pid) ?? []) pin(child, core);
}
