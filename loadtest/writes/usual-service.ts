// Compares the two writes with the baseline of baseline/writes, alternating on the same database. This session holds the lock of scheduling's
// relay, so that no events are published.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { insertRecords } from '../data/insert.ts';
import { cpuText, perEach, totalOf, withCpu, type Groups } from '../measure/cpu.ts';
import { requireEqual } from '../measure/equal.ts';
import { latencyText } from '../measure/latency.ts';
import { median } from '../measure/rounds.ts';
import { withClient } from '../system/postgres.ts';
import type { Running, Stack } from '../system/stack.ts';
import { COMPANY, readVisits, stopPublishing, writeLoad, type Visit } from './system.ts';

const SCHEMA = join(import.meta.dirname, '../baseline/writes/schema.sql');
const CONNECTIONS = 16;
const COMPARED = 50;
/** By then V8 has compiled the hot code of both sides. */
const WARM_UP_SECONDS = 15;
const STILL_MS = 50;

interface Side {
  readonly title: string;
  readonly port: number;
  /** Processes whose CPU time counts. */
  readonly groups: Groups;
  visits(): Promise<readonly Visit[]>;
}

export interface Beside {
  readonly stack: Stack;
  readonly key: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Starts the system from this checkout or another one. `groups` are the processes whose CPU time counts. */
  start(checkout?: string): Promise<{ readonly gateway: Running; readonly groups: Groups }>;
  /** Checkout to compare this one with. */
  readonly before: string | undefined;
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
  readonly before: Ratios | undefined;
  readonly perSecond: number;
}

export function measureBesideUsual({ stack, key, rounds, seconds, start, before, postgres }: Beside): Promise<BesideFigures> {
  return withClient(stack, async (client) => {
    await stopPublishing(client);
    const write = writeLoad(key, CONNECTIONS);
    const sideOf = async (title: string, checkout?: string): Promise<Side> => {
      const { gateway, groups } = await start(checkout);
      return { title, port: gateway.port, groups, visits: () => readVisits(gateway, key) };
    };
    const system = await sideOf('writes');
    await fill(client, key, await system.visits());
    const service = await stack.launch({ name: 'usual-writes', script: 'loadtest/baseline/writes/main.ts', onePort: true });
    const ids = (await client.query<{ id: string }>('select id from baseline_writes.visits')).rows;
    const targets = ids.map(({ id }) => ({ path: `/v1/job-appointments/${id}`, header: ['Authorization', `Bearer ${key}`] as const }));
    const pairs = targets.map((target) => ({ system: target, baseline: target }));
    await requireEqual({ system: system.port, baseline: service.port }, pairs, COMPARED);
    const usual: Side = {
      title: 'the baseline',
      port: service.port,
      groups: { baseline: [service.pid], PostgreSQL: [postgres], Redis: system.groups['Redis'] ?? [] },
      visits: () => visitsOf(client),
    };
    const earlier = before === undefined ? undefined : await sideOf('writes before', before);
    const sides = [usual, system, ...(earlier === undefined ? [] : [earlier])];
    for (const { port, visits } of sides) await write(port, await visits(), WARM_UP_SECONDS);
    const seen = new Map(sides.map((side) => [side, [] as Seen[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const side of round % 2 === 1 ? sides : sides.toReversed()) {
        await nothingUnderWay(client);
        const visits = await side.visits();
        const { result, cpu } = await withCpu(side.groups, () => write(side.port, visits, seconds));
        const each = perEach(cpu, result.requests);
        seen.get(side)?.push({ throughput: result.perSecond, cpu: totalOf(each) });
        say(`round ${round}, ${side.title}: ${result.perSecond.toFixed(0)}/s (${latencyText(result)}, CPU ms: ${cpuText(each)})`);
      }
    }
    await service.stop();
    const own = seen.get(system) as Seen[];
    const ratio = (other: Side, of: keyof Seen): number => median(own.map((one, round) => one[of] / ((seen.get(other) as Seen[])[round] as Seen)[of]));
    const ratios = (other: Side): Ratios => ({ throughput: ratio(other, 'throughput'), cpu: ratio(other, 'cpu') });
    return { usual: ratios(usual), before: earlier && ratios(earlier), perSecond: median(own.map(({ throughput }) => throughput)) };
  });
}

/** Writes a second, and CPU time of a write in ms. */
type Seen = Ratios;

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

/** Recreates the baseline's tables from what the system returns. */
async function fill(client: pg.Client, key: string, visits: readonly Visit[]): Promise<void> {
  await client.query(`begin; drop schema if exists baseline_writes cascade; ${readFileSync(SCHEMA, 'utf8')}; commit`);
  const company_id = COMPANY.id;
  const insert = (table: string, records: readonly object[]): Promise<void> =>
    insertRecords(
      client,
      `baseline_writes.${table}`,
      records.map((record) => ({ company_id, ...record })),
    );
  const distinct = (records: readonly ({ id: string } | null)[]): object[] => [...new Map(records.flatMap((one) => (one ? [[one.id, one]] : []))).values()];
  await client.query('insert into baseline_writes.companies values ($1, $2, 1000000000)', [company_id, COMPANY.timezone]);
  await client.query('insert into baseline_writes.api_keys values ($1, $2, $2)', [createHash('sha256').update(key).digest(), company_id]);
  const jobs = visits.map(({ job }) => job);
  await insert('accounts', distinct(jobs.map(({ account }) => account)));
  await insert('contacts', distinct(jobs.map(({ contact }) => contact)));
  await insert('business_units', distinct(jobs.map(({ business_unit }) => business_unit)));
  await insert('job_types', distinct(jobs.map(({ job_type }) => job_type)));
  await insert('locations', distinct(jobs.map(({ location }) => location)));
  await client.query(
    `insert into baseline_writes.team_members (company_id, id, name, status, assignable)
    select company_id, id, name, 'ACTIVE', true from scheduling.names where company_id = $1 and kind = 'team-members'`,
    [company_id],
  );
  const jobRow = ({ job: { account, location, contact, business_unit, job_type, ...job }, created_at }: Visit): object => {
    const references = { account_id: account?.id, location_id: location?.id, contact_id: contact?.id };
    return { ...job, ...references, business_unit_id: business_unit?.id, job_type_id: job_type?.id, created_at };
  };
  await insert('jobs', visits.map(jobRow));
  await insert(
    'visits',
    visits.map(({ job: _, assignments: __, created_by, ...visit }) => ({ ...visit, created_by_id: created_by.id })),
  );
  const assignments = visits.flatMap(({ assignments }) => assignments);
  await insert(
    'assignments',
    assignments.map(({ appointment_id, team_member, ...assignment }) => ({ ...assignment, visit_id: appointment_id, team_member_id: team_member.id })),
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
