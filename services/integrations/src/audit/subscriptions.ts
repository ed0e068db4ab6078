import { topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { Subscription } from '@truckroll/outbox';
import { withoutErasedPeople } from './erase-person.ts';
import { insertAuditEntries } from './store.ts';

/** Adds other services' entries to the audit trail. The table's primary key filters repeats. */
export const auditSubscriptions: readonly Subscription[] = [topics.schedulingAudit, topics.billingAudit, topics.reportingAudit].map((topic) => ({
  topic,
  deduplicate: 'handler',
  async apply(tx, events) {
    const entries = events.flatMap(({ payload }) => (payload === null ? [] : [AuditEntry.decode(payload)]));
    await insertAuditEntries(tx, await withoutErasedPeople(tx, entries));
  },
}));
