import { formatInstant, resource, topics } from '@truckroll/contract';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Copy } from './copy.ts';

const classes = resource('jobs').record.byName.get('job_class')?.enum?.spellings;

export const jobs: Copy = {
  topic: topics.jobs,
  table: 'jobs',
  async store(tx, companyId, payloads) {
    const records = payloads.map((payload) => Job.decode(payload));
    await tx.query({
      name: 'copy_jobs',
      text: `insert into jobs (company_id, id, location_id, account_id, business_unit_id, job_type_id, job_class, created_at, completed_at, document)
        select $1, * from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::bytea[])
        on conflict (company_id, id) do update set location_id = excluded.location_id, account_id = excluded.account_id,
          business_unit_id = excluded.business_unit_id, job_type_id = excluded.job_type_id, job_class = excluded.job_class,
          created_at = excluded.created_at, completed_at = excluded.completed_at, document = excluded.document`,
      values: [
        companyId,
        records.map((job) => job.id),
        records.map((job) => job.location_id),
        records.map((job) => job.account?.id ?? null),
        records.map((job) => job.business_unit?.id ?? null),
        records.map((job) => job.job_type?.id ?? null),
        records.map((job) => (job.job_class == null ? null : (classes?.get(job.job_class) ?? null))),
        records.map((job) => formatInstant(job.created_at)),
        records.map((job) => (job.completed_at == null ? null : formatInstant(job.completed_at))),
        payloads,
      ],
    });
    return records.map((job) => job.id);
  },
};
