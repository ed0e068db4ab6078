// Lists, details and reports over HTTP.
import { join } from 'node:path';
import { evenCompanies } from '../data/companies.ts';
import { startReading } from '../data/reading.ts';
import { collectTargets } from '../data/targets.ts';
import { startWorld } from '../imports/world.ts';
import { runWrk, writeTargets, type Target } from '../measure/wrk.ts';
import { REPORTS } from '../reports/fresh.ts';
import { openClient, untilNone } from '../system/postgres.ts';
import { groupsOf, startGateway } from '../system/programs.ts';
import type { Running, Stack } from '../system/stack.ts';
import type { Loaded, Size, StartLoad } from './load.ts';

const CONNECTIONS = 16;
/** Requests before the first round: V8 has then compiled the hot code of all processes. A number rather than a time, because machines may be busy. */
const WARM_UP = 20_000;
const DATA = { database: 'truckroll_against', companies: 10, invoicesPerCompany: 2000 };
const QUICK = { ...DATA, companies: 2, invoicesPerCompany: 500 };
/** A report costs many times what a list does. */
const REPORTS_WARM_UP = 2000;
const REPORT_JOBS = 2000;
const QUICK_JOBS = 100;

export const readsOf =
  (of: 'pages' | 'details'): StartLoad =>
  async (stack, size) => {
    const { services, gateway, callers } = await startReading(stack, evenCompanies(size.quick ? QUICK : DATA), { baseline: false });
    const targets = (await collectTargets(gateway.port, callers))[of].map(({ system }) => system);
    const { billing, integrations } = services.running;
    return loadOf(stack, { gateway, service: billing, integrations }, targets, size, WARM_UP);
  };

export const reports: StartLoad = async (stack, size) => {
  const client = await openClient(stack);
  const world = await startWorld(stack, client);
  const gateway = await startGateway(stack, world.services);
  const company = await world.company(size.quick ? QUICK_JOBS : REPORT_JOBS);
  await world.store([company]);
  // Months are summed two minutes after the last change of their days, except in older commits (docs/adr/0021).
  const { rowCount } = await client.query(`select where to_regclass('reporting.due_months') is not null`);
  if (rowCount === 1) await untilNone(client, 'select from reporting.due_notes union all select from reporting.due_months');
  const key = await world.services.operator.keyOf(company.id);
  const targets = REPORTS.map((query): Target => ({ path: `/v1/reports/${query}`, header: ['Authorization', `Bearer ${key}`] }));
  const { reporting, integrations } = world.services.running;
  return loadOf(stack, { gateway, service: reporting, integrations }, targets, size, REPORTS_WARM_UP);
};

async function loadOf(
  stack: Stack,
  running: Readonly<Record<'gateway' | 'service' | 'integrations', Running>>,
  targets: readonly Target[],
  { quick, seconds }: Size,
  warmUp: number,
): Promise<Loaded> {
  const file = writeTargets(join(stack.folder, 'reads.targets'), targets);
  const load = (seed: number, lasts: number) =>
    runWrk('requests.lua', [file, String(seed)], { port: running.gateway.port, connections: CONNECTIONS, seconds: lasts });
  return {
    groups: await groupsOf(stack, running),
    async warmUp() {
      for (let done = 0; done < (quick ? 1 : warmUp); ) done += (await load(1, 1)).requests;
    },
    prepare: async (round) => async () => {
      const { requests, perSecond, p50 } = await load(100 + round, seconds);
      return { operations: requests, perSecond, p50 };
    },
  };
}
