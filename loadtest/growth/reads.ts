// Reads, by the number of companies that read, and by how many invoices a company has.
import { generateInvoices } from '@truckroll/demo-company';
import { join } from 'node:path';
import { TIMEZONE, UNTIL, emptyCompany, type BenchmarkCompany } from '../data/companies.ts';
import { startReading } from '../data/reading.ts';
import { LIMIT, collectTargets } from '../data/targets.ts';
import { measure, type Side } from '../measure/rounds.ts';
import { runWrk, writeTargets } from '../measure/wrk.ts';
import { groupsOf } from '../system/programs.ts';
import { startStack, type Stack } from '../system/stack.ts';
import type { Options, Part, Row } from './part.ts';

const CONNECTIONS = 16;
const WARM_UP_SECONDS = 5;

/** The companies that read, by size. */
type Readers = ReadonlyMap<number, readonly BenchmarkCompany[]>;

/** All companies are stored, and the first ones read. Each has one full page, so that every request is the same work. */
export const companies: Part = async (options) => {
  const sizes = options.quick ? [1, 4] : [1, 10, 100, 1000];
  const all = Array.from({ length: Math.max(...sizes) }, (_, at) => companyOf(at + 1, LIMIT));
  return withStack('companies', options, new Map(sizes.map((size) => [size, all.slice(0, size)])), LIMIT);
};

/** The companies are in one database. */
export const invoices: Part = async (options) => {
  const sizes = options.quick ? [100, 1000] : [10_000, 100_000, 1_000_000];
  return withStack('invoices', options, new Map(sizes.map((size) => [size, [companyOf(size, size)]])));
};

/** Without payments: reads of invoices do not look at them, and they would double the time of the first run. */
function companyOf(seed: number, invoicesPerCompany: number): BenchmarkCompany {
  const [made] = generateInvoices({ timezone: TIMEZONE, until: UNTIL, seed, companies: 1, invoicesPerCompany });
  const files = made?.files.filter(({ path }) => path !== 'payments') ?? [];
  return { ...emptyCompany(`growth, ${invoicesPerCompany} invoices, ${seed}`), files };
}

async function withStack(name: string, options: Options, readers: Readers, idsPerPage?: number): Promise<Row[]> {
  const stack = await startStack(`truckroll_growth_${name}${options.quick ? '_quick' : ''}`);
  try {
    return await measureReads(stack, options, readers, idsPerPage);
  } finally {
    await stack.close();
  }
}

async function measureReads(stack: Stack, { rounds, seconds }: Options, readers: Readers, idsPerPage?: number): Promise<Row[]> {
  const { services, gateway, callers } = await startReading(stack, [...new Set([...readers.values()].flat())], { baseline: false });
  const { billing, integrations } = services.running;
  const groups = await groupsOf(stack, { gateway, billing, integrations });
  const targets = new Map<string, Awaited<ReturnType<typeof collectTargets>>>();
  for (const caller of callers) targets.set(caller.companyId, await collectTargets(gateway.port, [caller], idsPerPage));
  const rows: Row[] = [];
  for (const work of ['pages', 'details'] as const) {
    const sides: Record<string, Side> = {};
    for (const [size, of] of readers) {
      const requests = of.flatMap(({ id }) => targets.get(id)?.[work] ?? []).map(({ system }) => system);
      const file = writeTargets(join(stack.folder, `${work}-${size}.targets`), requests);
      const load = (seed: number, lasts: number) =>
        runWrk('requests.lua', [file, String(seed)], { port: gateway.port, connections: CONNECTIONS, seconds: lasts });
      await load(1, WARM_UP_SECONDS);
      sides[`${work} of ${size}`] = { groups, prepare: async (round) => () => load(100 + round, seconds) };
    }
    const measured = Object.values(await measure(rounds, sides)).map((all) =>
      all.map(({ perSecond, p50, cpu }) => ({ figures: { 'a second': perSecond, 'p50 ms': p50 }, cpu })),
    );
    rows.push(...[...readers.keys()].map((size, at) => ({ work, size, rounds: measured[at] ?? [] })));
  }
  return rows;
}
