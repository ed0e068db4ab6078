import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { uuidOf, type Transaction } from '@truckroll/postgres';
import { LARGEST_RECORD, RecordTooLarge, type Changed } from '@truckroll/record-store';
import { dispatchStatusOf, inOrder, revisionOf } from './visit.ts';
import { locationIdOf, visitJobOf } from './job.ts';

/** `derive` of visits: job, assignments in their order, dispatch_status and revision (decisions §1, §5). Errors: RecordTooLarge for too many assignments. */
export async function deriveVisits(tx: Transaction, companyId: string, batch: readonly Changed<Visit>[]): Promise<ReadonlyMap<string, Partial<Visit>>> {
  const [jobs, assignments] = await Promise.all([
    jobsOf(
      tx,
      companyId,
      batch.map(({ record }) => record.job_id),
    ),
    assignmentsOf(
      tx,
      companyId,
      batch.map(({ id }) => id),
    ),
  ]);
  const locationIds = batch.flatMap(({ record }) => locationIdOf(jobs.get(record.job_id), record.job) ?? []);
  const locations = await locationsOf(tx, companyId, locationIds);
  return new Map(
    batch.map(({ id, record }) => {
      const job = jobs.get(record.job_id);
      const own = inOrder(assignments.get(id) ?? []).map((assignment) => ({ ...assignment, job_id: record.job_id }));
      const derived = {
        revision: revisionOf(record, own),
        job: visitJobOf(record, job, locations.get(locationIdOf(job, record.job) ?? '')),
        assignments: own,
        dispatch_status: dispatchStatusOf(record.canceled, own),
      };
      return [id, derived];
    }),
  );
}

/** Errors: RecordTooLarge. */
async function assignmentsOf(tx: Transaction, companyId: string, visitIds: readonly string[]): Promise<Map<string, Assignment[]>> {
  const rows = await tx.queryBinary({
    name: 'assignments_of_visits',
    text: `select a.document from unnest($2::uuid[]) v(id)
      join job_assignments a on a.company_id = $1 and a.appointment_id = v.id`,
    values: [companyId, visitIds],
  });
  const found = rows.map(([document]) => ({ bytes: (document as Buffer).length, assignment: Assignment.decode(document as Buffer) }));
  const assignments = new Map<string, Assignment[]>();
  for (const [visitId, own] of Map.groupBy(found, ({ assignment }) => assignment.appointment_id)) {
    const bytes = own.reduce((sum, each) => sum + each.bytes, 0);
    if (bytes > LARGEST_RECORD) throw new RecordTooLarge('job-appointments', visitId, bytes);
    assignments.set(
      visitId,
      own.map(({ assignment }) => assignment),
    );
  }
  return assignments;
}

async function jobsOf(tx: Transaction, companyId: string, ids: readonly string[]): Promise<Map<string, Job>> {
  const rows = await tx.queryBinary({
    name: 'jobs_of_visits',
    text: `select j.id, j.document from unnest($2::uuid[]) u(id) join jobs j on j.company_id = $1 and j.id = u.id`,
    values: [companyId, [...new Set(ids)]],
  });
  return new Map(rows.map(([id, document]) => [uuidOf(id as Buffer), Job.decode(document as Buffer)]));
}

async function locationsOf(tx: Transaction, companyId: string, ids: readonly string[]): Promise<Map<string, Location>> {
  const rows = await tx.queryBinary({
    name: 'locations_of_visits',
    text: `select l.id, l.document from unnest($2::uuid[]) u(id) join locations l on l.company_id = $1 and l.id = u.id`,
    values: [companyId, [...new Set(ids)]],
  });
  return new Map(rows.map(([id, document]) => [uuidOf(id as Buffer), Location.decode(document as Buffer)]));
}
