import { topics } from '@truckroll/contract';
import { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Copy } from './copy.ts';

export const assignments: Copy = {
  topic: topics.assignments,
  table: 'assignments',
  async store(tx, companyId, payloads) {
    const records = payloads.map((payload) => Assignment.decode(payload));
    // An assignment may have moved to another job: both count it differently now.
    const { rows } = await tx.query<{ job_id: string }>({
      name: 'jobs_of_assignments',
      text: 'select job_id from assignments where company_id = $1 and id = any($2::uuid[])',
      values: [companyId, records.map(({ id }) => id)],
    });
    await tx.query({
      name: 'copy_assignments',
      text: `insert into assignments (company_id, id, job_id, team_member_id, team_member_name)
        select $1, * from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
        on conflict (company_id, id) do update set job_id = excluded.job_id, team_member_id = excluded.team_member_id,
          team_member_name = excluded.team_member_name`,
      values: [
        companyId,
        records.map(({ id }) => id),
        records.map(({ job_id }) => job_id),
        records.map(({ team_member }) => team_member?.id),
        records.map(({ team_member }) => team_member?.name ?? ''),
      ],
    });
    return [...rows.map(({ job_id }) => job_id), ...records.map(({ job_id }) => job_id)];
  },
  async remove(tx, companyId, ids) {
    const { rows } = await tx.query<{ job_id: string }>({
      name: 'remove_assignments',
      text: 'delete from assignments where company_id = $1 and id = any($2::uuid[]) returning job_id',
      values: [companyId, ids],
    });
    return rows.map(({ job_id }) => job_id);
  },
};
