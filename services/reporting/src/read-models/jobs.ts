import { createHash } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { dropUnrecorded } from '../financials/every-job.ts';
import { recordReadModel, type RecordReadModel } from './record-read-model.ts';

/** Whole: financials show much of their job. What a job derives from its visits is not shown, so it is not kept. */
const model = recordReadModel<Job>({
  topic: topics.jobs,
  path: 'jobs',
  part: 'jobs',
  jobColumn: 'id',
  columns: {
    document: { type: 'bytea', of: (job) => Buffer.from(Job.encode(shown(job)).finish()), followsNames: true },
    digest: { type: 'text', of: digestOf },
  },
});

export const jobs: RecordReadModel = {
  ...model,
  async remove(tx, companyId, ids) {
    const gone = (await model.remove?.(tx, companyId, ids)) ?? [];
    await dropUnrecorded(tx, companyId, gone);
    return gone;
  },
};

function shown(job: Job): Job {
  return { ...job, appointment_count: 0, first_starts_at: null };
}

/** Of all but the names in references, which have a way and a table of their own. */
function digestOf(job: Job): string {
  const facts = JSON.stringify(shown(job), (_, value: unknown) => (isReference(value) ? value.id : value));
  return createHash('sha256').update(facts).digest('hex');
}

function isReference(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && Object.keys(value).sort().join() === 'id,name';
}
