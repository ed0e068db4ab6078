import { topics } from '@truckroll/contract';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { recordCopy } from './record-copy.ts';

/** Whole: financials show much of their job. What a job derives from its visits is not shown, so it is not kept. */
export const jobs = recordCopy<Job>({
  topic: topics.jobs,
  path: 'jobs',
  jobColumn: 'id',
  columns: {
    document: { type: 'bytea', of: (job) => Buffer.from(Job.encode({ ...job, appointment_count: 0, first_starts_at: null }).finish()) },
  },
});
