// The whole system as in production, for one run: with unreachable limits, and companies of three sizes.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { Problem, STATE, tokenIssuer } from '@truckroll/local-stack';
import { removeEndpoints, type Send } from '../k6/scenarios/world.ts';
import { emptyCompany } from '../data/companies.ts';
import { importOnce } from '../data/import.ts';
import { childrenByParent, type Groups } from '../measure/cpu.ts';
import { groupsOf, startDispatcher, startSystem } from '../system/programs.ts';
import { startStack, type Running, type Stack } from '../system/stack.ts';
import { chartNodeOptions } from './chart.ts';
import { FOLDER } from './k6.ts';
import { nodeClient } from './node-client.ts';

const DATABASE = 'truckroll_load';
const SEEDS = { usual: 11, huge: 12 };
const OWNERS = ['scheduling', 'billing', 'reporting'] as const;
/** Cores of the generator, which this process shares, and of the system. */
export const CORES = { generator: 0, system: 1 };

export interface Target {
  readonly env: Readonly<Record<'BASE_URL' | 'API_KEY', string>> & Readonly<Record<'API_KEY_HUGE' | 'API_KEY_EMPTY' | 'USER_TOKEN', string | undefined>>;
  readonly groups: Groups;
  readonly system?: { readonly gateway: Running; close(): Promise<void> };
}

export async function startOwnSystem({ jobs, pinned }: { jobs: number; pinned: boolean }): Promise<Target> {
  if (pinned && availableParallelism() < 2) throw new Problem('--pinned needs two cores: one for k6 and one for the system.');
  const stack = await startStack(DATABASE, { folder: FOLDER, nodeOptions: chartNodeOptions() });
  return await startPrograms(stack, jobs, pinned).catch(async (error: unknown) => {
    await stack.close();
    throw error;
  });
}

async function startPrograms(stack: Stack, jobs: number, pinned: boolean): Promise<Target> {
  const { issuer, audience, jwksFile } = tokenIssuer(STATE);
  const tokens = { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: jwksFile };
  const { services, gateway } = await startSystem(stack, owners, tokens);
  const { operator, channels, running } = services;
  const dispatcher = await startDispatcher(stack, services);
  const companies = { usual: emptyCompany('load, usual'), huge: emptyCompany(`load, huge ${jobs}`), empty: emptyCompany('load, empty') };
  for (const company of Object.values(companies)) await operator.createCompany(company);
  await importOnce(stack, channels, companies.usual, { seed: SEEDS.usual, size: 'small' }, OWNERS);
  await importOnce(stack, channels, companies.huge, { seed: SEEDS.huge, size: jobs }, OWNERS);
  const env = {
    BASE_URL: `http://127.0.0.1:${gateway.port}`,
    API_KEY: await operator.keyOf(companies.usual.id),
    API_KEY_HUGE: await operator.keyOf(companies.huge.id),
    API_KEY_EMPTY: await operator.keyOf(companies.empty.id),
    USER_TOKEN: await operator.token(companies.usual.id),
  };
  const { send } = nodeClient(env.BASE_URL);
  // Those of interrupted runs count towards the company's limit.
  await removeEndpoints(send, env.USER_TOKEN);
  for (const key of [env.API_KEY, env.API_KEY_HUGE]) await reported(send, key);
  const groups = await groupsOf(stack, { gateway, ...running, dispatcher });
  if (pinned) for (const pids of Object.values(groups)) for (const pid of pids) pin(pid, CORES.system);
  if (pinned) pin(process.pid, CORES.generator, false);
  return { env, groups, system: { gateway, close: () => stack.close() } };
}

/** Resolves when reporting has applied all of the company's records, so that it does not work during the measurement. */
async function reported(send: Send, credential: string): Promise<void> {
  const path = '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2026-02-01';
  for (const asked = Date.now(); ; await delay(500)) {
    const { report } = JSON.parse(await send({ path, credential, expect: [200, 503] })) as { report?: { as_of: string } };
    if (Date.parse(report?.as_of ?? '') >= asked) return;
  }
}

/** Pins a process with its threads and children to one core; later children inherit it. */
function pin(pid: number, core: number, children = true): void {
  const { status } = spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
  if (status !== 0) throw new Problem('taskset, which gives a process its core, is missing: install util-linux.');
  if (children) for (const child of childrenByParent().get(pid) ?? []) pin(child, core);
}
