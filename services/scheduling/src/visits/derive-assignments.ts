// An assignment takes its job from its visit (decisions §12), and from its own line until the visit arrives.
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Transaction } from '@truckroll/postgres';
import type { Changed } from '@truckroll/record-store';

/** The job of each assignment of the batch, by id. Reads visits as the transaction sees them. */
export async function deriveAssignments(
  tx: Transaction,
  companyId: string,
  batch: readonly Changed<Assignment>[],
): Promise<ReadonlyMap<string, Partial<Assignment>>> {
  const { rows } = await tx.query<{ id: string; job_id: string }>({
    name: 'jobs_of_visits_by_id',
    text: 'select v.id, v.job_id from unnest($2::uuid[]) u(id) join job_appointments v on v.company_id = $1 and v.id = u.id',
    values: [companyId, [...new Set(batch.map(({ record }) => record.appointment_id))]],
  });
  const jobs = new Map(rows.map(({ id, job_id }) => [id, job_id]));
  return new Map(batch.map(({ id, record }) => [id, { job_id: jobs.get(record.appointment_id) ?? record.job_id }]));
}
