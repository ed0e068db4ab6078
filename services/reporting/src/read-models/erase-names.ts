import { shapeNamed } from '@truckroll/contract';
import type { PersonStep } from '@truckroll/erasure';
import { endOfPage, withoutNamesOf } from '@truckroll/record-store';

const JOB = shapeNamed('truckroll.scheduling.v1.Job');

/** The names in copies of jobs, from which financials get theirs. Digests of jobs are without names. */
export const namesInJobs: PersonStep = {
  table: 'jobs',
  async next(tx, { companyId, kind, id }, after) {
    const end = await endOfPage(tx, 'jobs', companyId, after);
    const { rows } = await tx.query<{ id: string; document: Buffer }>({
      name: 'copied_jobs_of_person',
      text: `select id, document from jobs where company_id = $1 and ($2::uuid is null or id > $2) and ($3::uuid is null or id <= $3)
        and position($4::bytea in document) > 0 order by id for no key update`,
      values: [companyId, after, end, Buffer.from(id)],
    });
    const people = new Set([`${kind}/${id}`]);
    let changed = 0;
    for (const { id: job, document } of rows) {
      const without = withoutNamesOf(people, JOB, document);
      if (without === undefined) continue;
      await tx.query({
        name: 'rename_in_copied_job',
        text: 'update jobs set document = $3 where company_id = $1 and id = $2',
        values: [companyId, job, without.document],
      });
      changed++;
    }
    return { changed, after: end };
  },
};
