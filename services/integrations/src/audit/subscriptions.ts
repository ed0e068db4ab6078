import { topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { Subscription } from '@truckroll/outbox';
import { insertAuditEntries } from './store.ts';

/** What other services add to the audit trail. An entry that comes twice is recognised by its key in the table. */
export const auditSubscriptions: readonly Subscription[] = [topics.schedulingAudit, topics.billingAudit, topics.reportingAudit].map((topic) => ({
  topic,
  deduplicate: 'handler',
  apply: (tx, events) =>
    insertAuditEntries(
      tx,
      events.flatMap(({ payload }) => (payload === null ? [] : [AuditEntry.decode(payload)])),
    ),
}));
