// The whole system as in production, for one run: with unreachable limits, and companies of three sizes.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { owners, resource } from '@truckroll/contract';
import { generateCompany, type DemoOptions } from '@truckroll/demo-company';
import { Problem, STATE, say, tokenIssuer } from '@truckroll/local-stack';
import { ENDPOINTS } from '../k6/scenarios/webhooks.ts';
import { companyId } from '../data/companies.ts';
import { importFile, type Channels } from '../data/import.ts';
import { parentOf, type Groups } from '../measure/cpu.ts';
import { KeyFile, Operator } from '../system/operator.ts';
import { drained } from '../system/outbox.ts';
import { postgresPid, withClient } from '../system/postgres.ts';
import { callCredential, startGateway, startServices } from '../system/programs.ts';
import { Stack, type Running } from '../system/stack.ts';
import { chartNodeOptions } from './chart.ts';

export const FOLDER = join(STATE, 'load');
const DATABASE = 'truckroll_load';
const UNTIL = '2026-06-30T18:00:00Z';
const TIMEZONE = 'America/Chicago';
const SEEDS = { usual: 11, huge: 12 };
/** Cores of the generator, which this process shares, and of the system. */
export const CORES = { generator: 0, system: 1 };

export interface Target {
  readonly env: Readonly<Record<'BASE_URL' | 'API_KEY', string>> & Readonly<Partial<Record<'API_KEY_HUGE' | 'API_KEY_EMPTY' | 'USER_TOKEN', string>>>;
  readonly groups: Groups;
  readonly system?: OwnSystem;
}

export interface OwnSystem {
  readonly stack: Stack;
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
  const services = await startServices(stack, owners);
  const { integrations } = services.running;
  const dispatcher = await stack.launch({
    name: 'webhook-dispatcher',
    script: 'services/webhook-dispatcher/src/main.ts',
    env: { CALL_CREDENTIAL: callCredential('webhook-dispatcher'), INTEGRATIONS_ADDRESS: `127.0.0.1:${integrations.port}` },
  });
  const { issuer, audience, jwksFile } = tokenIssuer(STATE);
  const gateway = await startGateway(stack, services, { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: jwksFile });
  const operator = new Operator(integrations.port);
  const keys = new KeyFile(join(FOLDER, 'keys.json'));
  const ids = { usual: companyId('load, usual'), huge: companyId(`load, huge ${jobs}`), empty: companyId('load, empty') };
  for (const [name, id] of Object.entries(ids)) await operator.createCompany({ id, name: `Load, ${name}`, timezone: TIMEZONE, files: [] });
  await makeRecords(stack, services.channels, 'a usual company', ids.usual, { seed: SEEDS.usual, size: 'small' });
  await makeRecords(stack, services.channels, `a company of ${jobs} jobs`, ids.huge, { seed: SEEDS.huge, size: jobs });
  const env = {
    BASE_URL: `http://127.0.0.1:${gateway.port}`,
    API_KEY: await keys.of(ids.usual, operator),
    API_KEY_HUGE: await keys.of(ids.huge, operator),
    API_KEY_EMPTY: await keys.of(ids.empty, operator),
    USER_TOKEN: await operator.token(ids.usual),
  };
  await removeEndpoints(env.BASE_URL, env.USER_TOKEN);
  for (const key of [env.API_KEY, env.API_KEY_HUGE]) await reported(env.BASE_URL, key);
  const groups = {
    gateway: [gateway.pid],
    ...Object.fromEntries(Object.entries(services.running).map(([name, { pid }]) => [name, [pid]])),
    dispatcher: [dispatcher.pid],
    PostgreSQL: [await postgresPid(stack)],
    Kafka: [stack.pidOf('kafka') ?? 0],
    Redis: [stack.pidOf('redis') ?? 0],
  };
  if (pinned) for (const pids of Object.values(groups)) for (const pid of pids) pin(pid, CORES.system);
  if (pinned) pin(process.pid, CORES.generator, false);
  return { env, groups, system: { stack, gateway, close: () => stack.close() } };
}

/** Does nothing if the records exist. */
async function makeRecords(stack: Stack, channels: Channels, name: string, company: string, options: Pick<DemoOptions, 'seed' | 'size'>): Promise<void> {
  const mark = join(FOLDER, `made-${company}.json`);
  const wanted = JSON.stringify(options);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  rmSync(mark, { force: true });
  say(`making the records of ${name}, once …`);
  for (const file of generateCompany({ ...options, timezone: TIMEZONE, until: UNTIL })) {
    // Integrations' records are created by other records.
    if (resource(file.path).owner === 'integrations') continue;
    await importFile(channels, company, file, () => undefined);
  }
  await settled(stack);
  writeFileSync(mark, wanted);
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

/** Resolves when all events are published and tables are vacuumed, so that no work runs during the measurement. */
async function settled(stack: Stack): Promise<void> {
  await withClient(stack, async (client) => {
    for (const schema of ['scheduling', 'billing'] as const) await drained(client, schema);
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  });
}

/** Pins a process with its threads and children to one core; later children inherit it. */
function pin(pid: number, core: number, children = true): void {
  const { status } = spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
  if (status !== 0) throw new Problem('taskset, which gives a process its core, is missing: install util-linux.');
  if (children) for (const child of readdirSync('/proc').map(Number)) if (child > 0 && parentOf(child) === pid) pin(child, core);
}
