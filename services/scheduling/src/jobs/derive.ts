import type { JobLead } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Transaction } from '@truckroll/postgres';
import type { Changed } from '@truckroll/record-store';
import { latestStatus, statusesOf } from './status.ts';

/** Canceled visits do not count, so first_starts_at is the start of a visit that takes place. */
interface Visits {
  appointment_count: number;
  first_starts_at: number | null;
}
const NO_VISITS: Visits = { appointment_count: 0, first_starts_at: null };

/** `derive` of jobs: status fields from the current lifecycle, appointment_count and first_starts_at from the visits (decisions §11). */
export async function deriveJobs(tx: Transaction, companyId: string, batch: readonly Changed<Job>[]): Promise<ReadonlyMap<string, Partial<Job>>> {
  const [statuses, visits] = await Promise.all([
    statusesOf(
      tx,
      companyId,
      batch.flatMap(({ record }) => record.lifecycle?.id ?? []),
    ),
    visitsOf(
      tx,
      companyId,
      batch.map(({ id }) => id),
    ),
  ]);
  return new Map(
    batch.map(({ id, record }) => {
      const status = latestStatus(record.status, record.lifecycle, 'is_work_complete', statuses);
      return [id, { status, ...(visits.get(id) ?? NO_VISITS) }];
    }),
  );
}

/** `derive` of leads: status fields from the current lifecycle (decisions §11). */
export async function deriveLeads(tx: Transaction, companyId: string, batch: readonly Changed<JobLead>[]): Promise<ReadonlyMap<string, Partial<JobLead>>> {
  const statuses = await statusesOf(
    tx,
    companyId,
    batch.flatMap(({ record }) => record.lifecycle?.id ?? []),
  );
  return new Map(batch.map(({ id, record }) => [id, { status: latestStatus(record.status, record.lifecycle, 'is_lead_won', statuses) }]));
}

async function visitsOf(tx: Transaction, companyId: string, jobIds: readonly string[]): Promise<Map<string, Visits>> {
  const { rows } = await tx.query<{ job_id: string } & Visits>({
    name: 'visits_of_jobs',
    text: `select v.job_id, count(*) as appointment_count, min(v.starts_at) as first_starts_at
      from unnest($2::uuid[]) j(id) join job_appointments v on v.company_id = $1 and v.job_id = j.id and not v.canceled
      group by v.job_id`,
    values: [companyId, jobIds],
  });
  return new Map(rows.map(({ job_id, ...visits }) => [job_id, visits]));
}
