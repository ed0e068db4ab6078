// Compares the two writes with the baseline of baseline/writes, alternating on the same database. This session holds the lock of scheduling's
// relay, so that no events are published.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import pg from 'pg';
import { copyRows, type Value } from '../data/copy.ts';
import { cpuText, perEach, withCpu, type CpuMs, type Groups } from '../measure/cpu.ts';
import { requireEqual } from '../measure/equal.ts';
import { median } from '../measure/rounds.ts';
import { withBusy } from '../measure/waiting.ts';
import type { Outcome } from '../measure/wrk.ts';
import type { Running, Stack } from '../system/stack.ts';
import { stopPublishing, type Visit } from './system.ts';

const SCHEMA = join(import.meta.dirname, '../baseline/writes/schema.sql');
const COMPARED = 50;
/** By then V8 has compiled the hot code of both sides. */
const WARM_UP_SECONDS = 15;
const STILL_MS = 50;

export interface Beside {
  readonly stack: Stack;
  readonly company: { readonly id: string; readonly timezone: string };
  readonly key: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Starts the system from this checkout or another one. `groups` are the processes whose CPU time counts. */
  start(checkout?: string): Promise<{ gateway: Running; groups: Groups; visits(): Promise<readonly Visit[]> }>;
  /** Checkout to compare this one with. */
  readonly before?: string | undefined;
  write(port: number, visits: readonly Visit[], seconds: number): Promise<Outcome>;
  readonly postgres: number;
}

export interface Ratios {
  /** Writes a second ÷ those of the other side. */
  readonly throughput: number;
  /** CPU time of a write ÷ that of the other side. */
  readonly cpu: number;
}

export interface BesideFigures {
  readonly usual: Ratios;
  readonly before?: Ratios;
}

interface Side {
  readonly title: string;
  readonly port: number;
  readonly groups: Groups;
  visits(): Promise<readonly Visit[]>;
}

export async function measureBesideUsual({ stack, company, key, rounds, seconds, start, before, write, postgres }: Beside): Promise<BesideFigures> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await stopPublishing(client);
    const system = await start();
    await fill(client, company, key, await system.visits());
    const usual = await stack.launch({ name: 'usual-writes', script: 'loadtest/baseline/writes/main.ts', onePort: true });
    const ids = (await client.query<{ id: string }>('select id from baseline_writes.visits')).rows;
    const target = { header: ['Authorization', `Bearer ${key}`] as const };
    const pairs = ids.map(({ id }) => ({ path: `/v1/job-appointments/${id}`, ...target })).map((one) => ({ system: one, baseline: one }));
    await requireEqual({ system: system.gateway.port, baseline: usual.port }, pairs, COMPARED);

    const sideOf = (title: string, { gateway, groups, visits }: typeof system): Side => ({ title, port: gateway.port, groups, visits });
    const sides = new Map<string, Side>([
      [
        'usual',
        {
          title: 'the usual service',
          port: usual.port,
          groups: { 'usual service': [usual.pid], PostgreSQL: [postgres], Redis: system.groups['Redis'] ?? [] },
          visits: () => visitsOf(client),
        },
      ],
      ['system', sideOf('writes', system)],
    ]);
    if (before !== undefined) sides.set('before', sideOf('writes before', await start(before)));
    const names = [...sides.keys()];
    for (const { port, visits } of sides.values()) await write(port, await visits(), WARM_UP_SECONDS);
    const seen = new Map(names.map((name) => [name, [] as Seen[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const name of round % 2 === 1 ? names : names.toReversed()) {
        const { title, port, groups, visits } = sides.get(name) as Side;
        await nothingUnderWay(client);
        const own = await visits();
        const {
          result: { result, cpu },
          busy,
        } = await withBusy({}, () => withCpu(groups, () => write(port, own, seconds)));
        const each = perEach(cpu, result.requests);
        seen.get(name)?.push({ perSecond: result.perSecond, cpu: sum(each) });
        say(
          `round ${round}, ${title}, nobody publishes: ${result.perSecond.toFixed(0)}/s (p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms, CPU ms: ${cpuText(each)}, processors idle for ${(100 * busy.idle).toFixed(0)} %)`,
        );
      }
    }
    await usual.stop();
    const ratio = (other: string, of: keyof Seen): number =>
      median((seen.get('system') ?? []).map((one, round) => one[of] / ((seen.get(other) as Seen[])[round] as Seen)[of]));
    const ratios = (other: string): Ratios => ({ throughput: ratio(other, 'perSecond'), cpu: ratio(other, 'cpu') });
    return { usual: ratios('usual'), ...(before === undefined ? {} : { before: ratios('before') }) };
  } finally {
    await client.end();
  }
}

/**
 * Resolves when the database is idle. The generator does not wait for its last answers, so visits may still change; and autovacuum of
 * earlier rounds would count for the side that is measured.
 */
async function nothingUnderWay(client: pg.Client): Promise<void> {
  for (let still = 0; still < 3; ) {
    await delay(STILL_MS);
    const { rowCount } = await client.query(`select from pg_stat_activity
      where datname = current_database() and backend_type in ('client backend', 'autovacuum worker') and state <> 'idle' and pid <> pg_backend_pid()`);
    still = rowCount === 0 ? still + 1 : 0;
  }
}

interface Seen {
  readonly perSecond: number;
  /** CPU time of a write, in ms. */
  readonly cpu: number;
}

const sum = (cpu: CpuMs): number => Object.values(cpu).reduce((total, ms) => total + ms, 0);

/** Recreates the baseline's tables from what the system returns. */
async function fill(client: pg.Client, { id, timezone }: Beside['company'], key: string, visits: readonly Visit[]): Promise<void> {
  await client.query(`begin; drop schema if exists baseline_writes cascade; ${readFileSync(SCHEMA, 'utf8')}; commit`);
  const rows = (table: string, columns: string, list: Iterable<readonly Value[]>): Promise<void> =>
    copyRows(
      client,
      `baseline_writes.${table}`,
      ['company_id', ...columns.split(' ')],
      [...list].map((row) => [id, ...row]),
    );
  const named = (table: string, references: readonly ({ id: string; name: string } | null)[]): Promise<void> =>
    rows(table, 'id name', new Map(references.flatMap((one) => (one === null ? [] : [[one.id, [one.id, one.name]]]))).values());
  await client.query('insert into baseline_writes.companies values ($1, $2, 1000000000)', [id, timezone]);
  await client.query('insert into baseline_writes.api_keys values ($1, $2, $2)', [createHash('sha256').update(key).digest(), id]);
  const jobs = visits.map(({ job }) => job);
  await named(
    'accounts',
    jobs.map(({ account }) => account),
  );
  await named(
    'contacts',
    jobs.map(({ contact }) => contact),
  );
  await named(
    'business_units',
    jobs.map(({ business_unit }) => business_unit),
  );
  await named(
    'job_types',
    jobs.map(({ job_type }) => job_type),
  );
  const locations = new Map(jobs.flatMap(({ location }) => (location === null ? [] : [[location.id, location]])));
  await rows(
    'locations',
    'id name address latitude longitude',
    [...locations.values()].map((one) => [one.id, one.name, one.address, one.latitude, one.longitude]),
  );
  await client.query(
    `insert into baseline_writes.team_members (company_id, id, name, status, assignable)
    select company_id, id, name, 'ACTIVE', true from scheduling.names where company_id = $1 and kind = 'team-members'`,
    [id],
  );
  await rows(
    'jobs',
    'id number summary account_id location_id contact_id business_unit_id job_type_id job_class created_at',
    visits.map(({ job, created_at }) => [
      job.id,
      job.number,
      job.summary,
      job.account?.id,
      job.location?.id,
      job.contact?.id,
      job.business_unit?.id,
      job.job_type?.id,
      job.job_class,
      created_at,
    ]),
  );
  const own =
    'id number job_id type description window_start_at window_end_at confirmed canceled cancellation_reason cancellation_note created_at updated_at kind starts_at ends_at revision dispatch_status';
  await rows(
    'visits',
    `${own} created_by_id`,
    visits.map((visit) => [...own.split(' ').map((name) => visit[name]), visit['created_by'].id]),
  );
  const assignment = 'id job_id starts_at ends_at status status_updated_at created_at updated_at';
  await rows(
    'assignments',
    `${assignment} visit_id team_member_id`,
    visits.flatMap(({ assignments }) => assignments).map((one) => [...assignment.split(' ').map((name) => one[name]), one.appointment_id, one.team_member.id]),
  );
  // Vacuum after the imports of both sides. The checkpoint comes now, so that full-page writes happen during the warm-up, not in rounds.
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

async function visitsOf(client: pg.Client): Promise<readonly Visit[]> {
  const { rows } = await client.query<Visit>(`
    select v.id, v.revision, coalesce((select json_agg(json_build_object('id', a.id)) from baseline_writes.assignments a
      where a.company_id = v.company_id and a.visit_id = v.id), '[]') as assignments from baseline_writes.visits v order by v.created_at, v.id`);
  return rows;
}
