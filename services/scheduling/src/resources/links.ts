import type { Transaction } from '@truckroll/postgres';
import type { Maintains } from '@truckroll/record-store';

interface Followed {
  link: string;
  table: string;
  /** SQL: the correct (id, value) pairs for the records $2 of company $1. */
  pairs: string;
}

const VISIT_TEAMS: Followed = {
  link: 'job_appointment_team_members',
  table: 'job_appointments',
  pairs: `select a.appointment_id, a.team_member_id
    from unnest($2::uuid[]) u(id) join job_assignments a on a.company_id = $1 and a.appointment_id = u.id`,
};

const JOB_TEAMS: Followed = {
  link: 'job_team_members',
  table: 'jobs',
  pairs: `select v.job_id, a.team_member_id
    from unnest($2::uuid[]) u(id)
    join job_appointments v on v.company_id = $1 and v.job_id = u.id
    join job_assignments a on a.company_id = $1 and a.appointment_id = v.id`,
};

const ACCOUNT_LOCATIONS: Followed = {
  link: 'account_locations',
  table: 'accounts',
  pairs: `select l.value, l.id from unnest($2::uuid[]) u(id) join location_accounts l on l.company_id = $1 and l.value = u.id`,
};

/** Adapts a function that takes ids to `maintained` of a column or link. */
export function keeping(refresh: (tx: Transaction, companyId: string, ids: readonly string[]) => Promise<void>): Maintains<unknown> {
  return (tx, companyId, records) =>
    refresh(
      tx,
      companyId,
      records.map(({ id }) => id),
    );
}

/** Team members on visits. Includes canceled assignments and canceled visits, since the person stays on the record. */
export async function refreshVisitTeams(tx: Transaction, companyId: string, visitIds: readonly string[]): Promise<void> {
  await follow(tx, VISIT_TEAMS, companyId, visitIds);
}

/** Team members on any visit of a job. Two visits of a job may change at once, so the job is locked before they are read. */
export async function refreshJobTeams(tx: Transaction, companyId: string, jobIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'hold_jobs_for_teams',
    text: `select from unnest($2::uuid[]) u(id) join jobs j on j.company_id = $1 and j.id = u.id order by j.id for no key update of j`,
    values: [companyId, jobIds],
  });
  await follow(tx, JOB_TEAMS, companyId, jobIds);
}

/** Locations of accounts, including former ones: the reverse of a location's accounts. */
export async function refreshAccountLocations(tx: Transaction, companyId: string, accountIds: readonly string[]): Promise<void> {
  await follow(tx, ACCOUNT_LOCATIONS, companyId, accountIds);
}

export async function accountsLinkedTo(tx: Transaction, companyId: string, locationIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'accounts_linked_to_locations',
    text: `select distinct l.id from unnest($2::uuid[]) u(id) join account_locations l on l.company_id = $1 and l.value = u.id`,
    values: [companyId, locationIds],
  });
  return rows.map(({ id }) => id);
}

async function follow(tx: Transaction, { link, table, pairs }: Followed, companyId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query({
    name: `follow_${link}`,
    text: `with wanted as materialized (
        select distinct t.company_id, p.value, t.created_at, t.id
        from (${pairs}) p(id, value) join ${table} t on t.company_id = $1 and t.id = p.id
      ), gone as (
        delete from ${link} l using unnest($2::uuid[]) u(id) where l.company_id = $1 and l.id = u.id
          and (l.id, l.value, l.created_at) not in (select id, value, created_at from wanted)
      )
      insert into ${link} (company_id, value, created_at, id) select * from wanted on conflict do nothing`,
    values: [companyId, ids],
  });
}
