// What scheduling tells the other services of its records: the latest of each, on topics of state.
import { topics } from '@truckroll/contract';
import { Name as NameEvent } from '@truckroll/contract/gen/events/v1/names';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { append } from '@truckroll/outbox';
import { asRead, publishing, recordKey, writeNames, type AfterChange } from '@truckroll/record-store';
import type { Transaction } from '@truckroll/service-kit';
import { jobs } from './resources/jobs.ts';

const SCHEMA = 'scheduling';

/** For records that others show by name: keeps the names table, and tells of a name that is new or different. */
export function named(kind: string): AfterChange<{ name: string }> {
  return async (tx, companyId, changed) => {
    const names = changed.map(({ id, record: { name } }) => ({ kind, id, name, version: 0 }));
    const told = await writeNames(tx, SCHEMA, companyId, names);
    await append(
      tx,
      told.map(({ id, name }) => ({
        topic: topics.names.name,
        key: `${companyId}/${kind}/${id}`,
        type: 'name.changed',
        companyId,
        payload: NameEvent.encode({ company_id: companyId, kind, id, name }).finish(),
      })),
    );
  };
}

const publishAsStored = publishing<Job>(topics.jobs, 'job.changed');

/** Jobs as a read returns them, derived fields included. */
export const publishJobs: AfterChange<Job> = async (tx, companyId, changed) => {
  await publishAsStored(tx, companyId, changed.map((job) => ({ ...job, document: asRead(jobs, job) })));
};

export const publishAssignments = publishing<Assignment>(topics.assignments, 'assignment.changed');

/** Deletes assignments from the topic. */
export async function publishRemovedAssignments(tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  const removed = { topic: topics.assignments.name, type: 'assignment.removed', companyId, payload: null };
  await append(tx, ids.map((id) => ({ ...removed, key: recordKey(companyId, id) })));
}
