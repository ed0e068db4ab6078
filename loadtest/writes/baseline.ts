// The baseline of the writes: an Express process (baseline/writes) on tables that hold what the system returns.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { insertRecords } from '../data/baseline.ts';
import { settle } from '../system/postgres.ts';
import type { Stack } from '../system/stack.ts';
import { COMPANY, type Visit } from './system.ts';

const SCHEMA = join(import.meta.dirname, '../baseline/writes/schema.sql');
const STILL_MS = 50;

export async function startBaseline(stack: Stack, client: pg.Client) {
  const running = await stack.launch({ name: 'usual-writes', script: 'loadtest/baseline/writes/main.ts', onePort: true });
  const text = `select v.id, v.revision, coalesce((select json_agg(json_build_object('id', a.id)) from baseline_writes.assignments a
    where a.company_id = v.company_id and a.visit_id = v.id), '[]') as assignments from baseline_writes.visits v order by v.created_at, v.id`;
  return { ...running, visits: async (): Promise<readonly Visit[]> => (await client.query<Visit>(text)).rows };
}

/**
 * Resolves when the database is idle. The generator does not wait for its last answers, so visits may still change; and autovacuum of
 * earlier rounds would count for the side that is measured.
 */
export async function nothingUnderWay(client: pg.Client): Promise<void> {
  for (let still = 0; still < 3; ) {
    await delay(STILL_MS);
    const { rowCount } = await client.query(`select from pg_stat_activity
      where datname = current_database() and backend_type in ('client backend', 'autovacuum worker') and state <> 'idle' and pid <> pg_backend_pid()`);
    still = rowCount === 0 ? still + 1 : 0;
  }
}

/** Recreates the baseline's tables from what the system returns. */
export async function fillBaseline(client: pg.Client, key: string, visits: readonly Visit[]): Promise<void> {
  await client.query(`begin; drop schema if exists baseline_writes cascade; ${readFileSync(SCHEMA, 'utf8')}; commit`);
  await client.query('insert into baseline_writes.companies values ($1, $2, 1000000000)', [COMPANY.id, COMPANY.timezone]);
  await client.query('insert into baseline_writes.api_keys values ($1, $2, $2)', [createHash('sha256').update(key).digest(), COMPANY.id]);
  await client.query(
    `insert into baseline_writes.team_members (company_id, id, name, status, assignable)
    select company_id, id, name, 'ACTIVE', true from scheduling.names where company_id = $1 and kind = 'team-members'`,
    [COMPANY.id],
  );
  const named = (of: 'account' | 'contact' | 'business_unit' | 'job_type' | 'location'): object[] => [
    ...new Map(visits.flatMap(({ job }) => (job[of] === null ? [] : [[job[of].id, job[of]]]))).values(),
  ];
  const jobOf = ({ job: { account, location, contact, business_unit, job_type, ...job }, created_at }: Visit): object => {
    const references = { account_id: account?.id, location_id: location?.id, contact_id: contact?.id };
    return { ...job, ...references, business_unit_id: business_unit?.id, job_type_id: job_type?.id, created_at };
  };
  const tables = {
    accounts: named('account'),
    contacts: named('contact'),
    business_units: named('business_unit'),
    job_types: named('job_type'),
    locations: named('location'),
    jobs: visits.map(jobOf),
    visits: visits.map(({ job, created_by, ...visit }) => ({ ...visit, job_id: job.id, created_by_id: created_by.id, event_sequence: 0 })),
    assignments: visits.flatMap(({ assignments }) =>
      assignments.map(({ appointment_id, team_member, ...assignment }) => ({ ...assignment, visit_id: appointment_id, team_member_id: team_member.id })),
    ),
  };
  for (const [table, records] of Object.entries(tables)) await insertRecords(client, `baseline_writes.${table}`, COMPANY.id, records);
  // The checkpoint comes now, so that full-page writes happen during the warm-up, not in rounds.
  await settle(client, []);
}
