// The two writes lock a visit, then its job, then an assignment (assignments/store.ts). An import of jobs or assignments also changes
// visits, so it locks the visits first, in id order, to avoid deadlocks.
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Transaction } from '@truckroll/postgres';
import type { Changed } from '@truckroll/record-store';

/** `lockFirst` of jobs. */
export async function lockVisitsOfJobs(tx: Transaction, companyId: string, batch: readonly Changed<Job>[]): Promise<void> {
  await tx.query({
    name: 'lock_visits_of_jobs',
    text: `select from unnest($2::uuid[]) u(id) join job_appointments v on v.company_id = $1 and v.job_id = u.id
      order by v.id for no key update of v`,
    values: [companyId, batch.map(({ id }) => id)],
  });
}

/** Locks the current visits of the assignments, and the visits that they are about to leave. */
export async function lockVisitsOfAssignments(tx: Transaction, companyId: string, batch: readonly Changed<Assignment>[]): Promise<void> {
  await tx.query({
    name: 'lock_visits_of_assignments',
    text: `select from (
        select unnest($2::uuid[]) as id
        union
        select a.appointment_id from unnest($3::uuid[]) u(id) join job_assignments a on a.company_id = $1 and a.id = u.id
      ) u join job_appointments v on v.company_id = $1 and v.id = u.id
      order by v.id for no key update of v`,
    values: [companyId, batch.map(({ record }) => record.appointment_id), batch.map(({ id }) => id)],
  });
}
