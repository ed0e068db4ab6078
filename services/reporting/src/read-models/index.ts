import type { Subscription } from '@truckroll/outbox';
import { assignments } from './assignments.ts';
import { companies } from './companies.ts';
import { applyTo, type ReadModel } from './read-model.ts';
import { invoices } from './invoices.ts';
import { jobs } from './jobs.ts';
import { payments } from './payments.ts';
import { refunds } from './refunds.ts';
import type { RecordReadModel } from './record-read-model.ts';

export const recordReadModels: readonly RecordReadModel[] = [jobs, assignments, invoices, payments, refunds];

export const readModels: readonly ReadModel[] = [companies, ...recordReadModels];

/** `changed` is called after the commit of events. */
export function readModelSubscriptions(changed: () => void): Subscription[] {
  return readModels.map((model) => ({
    topic: model.topic,
    deduplicate: 'version',
    async apply(tx, events) {
      await applyTo(model, tx, events);
      tx.afterCommit(changed);
    },
  }));
}
