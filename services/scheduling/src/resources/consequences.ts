// What a change of each record leads to, in the same transaction. Records derive from each other in cycles, so tables do not know
// their dependents. Every step reads the latest state: the order in which records arrive does not matter.
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { JobLifecycle } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { TimeEntry } from '@truckroll/contract/gen/scheduling/v1/time_entries';
import { uuidOf, type Transaction } from '@truckroll/postgres';
import { refreshRecords, type Changed } from '@truckroll/record-store';
import { technicians } from '../visits/rules.ts';
import { refreshFormClasses } from '../forms/job-class.ts';
import { afterTechniciansChanged } from '../intake/technicians.ts';
import { changedStatuses } from '../jobs/status.ts';
import { accountsLinkedTo, refreshAccountLocations, refreshJobTeams, refreshVisitTeams } from './links.ts';
import { jobAppointments } from './job-appointments.ts';
import { jobAssignments } from './job-assignments.ts';
import { jobLeads } from './job-leads.ts';
import { jobs } from './jobs.ts';
import { timesheets } from './timesheets.ts';

type Ids = readonly string[];

async function refreshJobs(tx: Transaction, companyId: string, ids: Ids): Promise<void> {
  await refreshRecords(tx, jobs, companyId, ids);
}

async function refreshVisits(tx: Transaction, companyId: string, ids: Ids): Promise<void> {
  await refreshRecords(tx, jobAppointments, companyId, ids);
}

async function refreshTimesheets(tx: Transaction, companyId: string, ids: Ids): Promise<void> {
  await refreshRecords(tx, timesheets, companyId, ids);
}

export async function afterLocations(tx: Transaction, companyId: string, changed: readonly Changed<Location>[]): Promise<void> {
  const ids = idsOf(changed);
  const former = await accountsLinkedTo(tx, companyId, ids);
  const latest = changed.flatMap(({ record }) => record.accounts.flatMap(({ account }) => account?.id ?? []));
  await refreshAccountLocations(tx, companyId, [...new Set([...former, ...latest])]);
  await refreshVisits(tx, companyId, await idsWhere(tx, 'job_appointments', 'job_location_id', companyId, ids));
}

export async function afterLifecycles(tx: Transaction, companyId: string, changed: readonly Changed<JobLifecycle>[]): Promise<void> {
  const statusIds = changed.flatMap(({ record, before }) => {
    const former = before?.['document'] as Buffer | undefined;
    return changedStatuses(former && JobLifecycle.decode(former), record);
  });
  await refreshJobs(tx, companyId, await idsWhere(tx, 'jobs', 'status_id', companyId, statusIds));
  await refreshRecords(tx, jobLeads, companyId, await idsWhere(tx, 'job_leads', 'status_id', companyId, statusIds));
}

export async function afterJobs(tx: Transaction, companyId: string, changed: readonly Changed<Job>[]): Promise<void> {
  const ids = idsOf(changed);
  await refreshVisits(tx, companyId, await idsWhere(tx, 'job_appointments', 'job_id', companyId, ids));
  await refreshFormClasses(tx, companyId, 'job_id', ids);
}

export async function afterVisits(tx: Transaction, companyId: string, changed: readonly Changed<Visit>[]): Promise<void> {
  const jobIds = nowAndBefore(changed, 'job_id');
  await refreshJobs(tx, companyId, jobIds);
  await refreshJobTeams(tx, companyId, jobIds);
  const moved = changed.filter(({ record, before }) => before?.['job_id'] !== record.job_id);
  await refreshRecords(tx, jobAssignments, companyId, await idsWhere(tx, 'job_assignments', 'appointment_id', companyId, idsOf(moved)));
}

export async function afterAssignments(tx: Transaction, companyId: string, changed: readonly Changed<Assignment>[]): Promise<void> {
  await refreshAssigned(tx, companyId, nowAndBefore(changed, 'appointment_id'));
}

export async function afterTimeEntries(tx: Transaction, companyId: string, changed: readonly Changed<TimeEntry>[]): Promise<void> {
  await refreshTimesheets(tx, companyId, nowAndBefore(changed, 'timesheet_id'));
}

/** Refreshes visits whose assignments have changed, their jobs, and the service requests booked for them. */
async function refreshAssigned(tx: Transaction, companyId: string, visitIds: Ids): Promise<void> {
  await refreshVisits(tx, companyId, visitIds);
  await moveServiceRequests(tx, companyId, visitIds);
  await refreshVisitTeams(tx, companyId, visitIds);
  const { rows } = await tx.query<{ job_id: string }>({
    name: 'jobs_of_assigned_visits',
    text: `select distinct v.job_id from unnest($2::uuid[]) u(id) join job_appointments v on v.company_id = $1 and v.id = u.id`,
    values: [companyId, visitIds],
  });
  await refreshJobTeams(
    tx,
    companyId,
    rows.map(({ job_id }) => job_id),
  );
}

/** Imported technicians count like those that the two writes add and remove. */
async function moveServiceRequests(tx: Transaction, companyId: string, visitIds: Ids): Promise<void> {
  const booked = await tx.queryBinary({
    name: 'booked_visits',
    text: `select v.id, v.derived from unnest($2::uuid[]) u(id) join job_appointments v on v.company_id = $1 and v.id = u.id
      where v.booked order by v.id`,
    values: [companyId, visitIds],
  });
  for (const [id, derived] of booked) {
    await afterTechniciansChanged(tx, companyId, uuidOf(id as Buffer), technicians(Visit.decode(derived as Buffer)).length);
  }
}

async function idsWhere(tx: Transaction, table: string, column: string, companyId: string, values: Ids): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: `${table}_where_${column}`,
    text: `select t.id from unnest($2::uuid[]) u(value) join ${table} t on t.company_id = $1 and t.${column} = u.value`,
    values: [companyId, values],
  });
  return rows.map(({ id }) => id);
}

function idsOf(changed: readonly Changed<unknown>[]): string[] {
  return changed.map(({ id }) => id);
}

function nowAndBefore<K extends string>(changed: readonly Changed<{ [key in K]?: string | null | undefined }>[], column: K): string[] {
  return [...new Set(changed.flatMap(({ record, before }) => [record[column], before?.[column] as string | null | undefined]))].filter(
    (id): id is string => id != null,
  );
}
