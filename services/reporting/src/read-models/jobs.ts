import { createHash } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { dropUnrecorded } from '../jobs/every-job.ts';
import { recordReadModel, type RecordReadModel } from './record-read-model.ts';

/** Keeps whole jobs, since financials show many of their fields. Fields derived from visits are not shown and not kept. */
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
    const gone = await model.remove(tx, companyId, ids);
    await dropUnrecorded(tx, companyId, gone);
    return gone;
  },
};

function shown(job: Job): Job {
  return { ...job, appointment_count: 0, first_starts_at: null };
}

/** Excludes the names in references, which arrive on their own topic and have their own table. */
function digestOf(job: Job): string {
  const facts = JSON.stringify(shown(job), (_, value: unknown) => (isReference(value) ? value.id : value));
  return createHash('sha256').update(facts).digest('hex');
}

function isReference(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && Object.keys(value).sort().join() === 'id,name';
}
