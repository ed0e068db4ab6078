// Filters on what other records say of a record: link tables that follow from those records.
import type { Transaction } from '@truckroll/service-kit';

interface Followed {
  /** The link table and the table whose records it leads to. */
  link: string;
  table: string;
  /** SQL: (id, value) as they ought to be, for the records $2 of company $1. */
  pairs: string;
}

const VISIT_TEAMS: Followed = {
  link: 'job_appointment_team_members',
  table: 'job_appointments',
  pairs: `select appointment_id, team_member_id from job_assignments where company_id = $1 and appointment_id = any($2::uuid[])`,
};

const JOB_TEAMS: Followed = {
  link: 'job_team_members',
  table: 'jobs',
  pairs: `select v.job_id, a.team_member_id
    from job_appointments v join job_assignments a on a.company_id = v.company_id and a.appointment_id = v.id
    where v.company_id = $1 and v.job_id = any($2::uuid[])`,
};

const ACCOUNT_LOCATIONS: Followed = {
  link: 'account_locations',
  table: 'accounts',
  pairs: `select value, id from location_accounts where company_id = $1 and value = any($2::uuid[])`,
};

/** Who is assigned to visits: canceled assignments and canceled visits included, for the person stays on the record. */
export async function refreshVisitTeams(tx: Transaction, companyId: string, visitIds: readonly string[]): Promise<void> {
  await follow(tx, VISIT_TEAMS, companyId, visitIds);
}

/** Who is assigned to any visit of a job. Two visits of a job may change at once, so the job is locked before it is looked at. */
export async function refreshJobTeams(tx: Transaction, companyId: string, jobIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'hold_jobs_for_teams',
    text: `select from jobs where company_id = $1 and id = any($2::uuid[]) order by id for no key update`,
    values: [companyId, jobIds],
  });
  await follow(tx, JOB_TEAMS, companyId, jobIds);
}

/** At which locations accounts are, former ones included: the other side of a location's accounts. */
export async function refreshAccountLocations(tx: Transaction, companyId: string, accountIds: readonly string[]): Promise<void> {
  await follow(tx, ACCOUNT_LOCATIONS, companyId, accountIds);
}

/** Accounts that are said to be at these locations now. */
export async function accountsLinkedTo(tx: Transaction, companyId: string, locationIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'accounts_linked_to_locations',
    text: `select distinct id from account_locations where company_id = $1 and value = any($2::uuid[])`,
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
        delete from ${link} l where l.company_id = $1 and l.id = any($2::uuid[])
          and not exists (select from wanted w where (w.id, w.value, w.created_at) = (l.id, l.value, l.created_at))
      )
      insert into ${link} (company_id, value, created_at, id) select * from wanted on conflict do nothing`,
    values: [companyId, ids],
  });
}
