import type { Transaction } from '@truckroll/postgres';

/** Updates form responses' filter job_class from their jobs, null until the job arrives. `by` says whether `ids` are of form responses or jobs. */
export async function refreshFormClasses(tx: Transaction, companyId: string, by: 'id' | 'job_id', ids: readonly string[]): Promise<void> {
  await tx.query({
    name: `form_classes_by_${by}`,
    text: `update form_responses f set job_class = now.job_class
      from (
        select r.id, j.job_class from unnest($2::uuid[]) u(id)
        join form_responses r on r.company_id = $1 and r.${by} = u.id
        left join jobs j on j.company_id = $1 and j.id = r.job_id
      ) now
      where f.company_id = $1 and f.id = now.id and f.job_class is distinct from now.job_class`,
    values: [companyId, ids],
  });
}
