// The entries of the audit trail that a topic keeps, from which a restored database learns what it must erase again (docs/adr/0024).
import { topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { PERSON_ERASED, personKey, type OutgoingEvent } from '@truckroll/outbox';

export function erasureOf(entry: AuditEntry): OutgoingEvent {
  const { company_id: companyId, action, object_kind: kind, object_id: id } = entry;
  const key = action === PERSON_ERASED ? personKey({ companyId, kind, id }) : companyId;
  return { topic: topics.erasures.name, key, type: action, companyId, payload: AuditEntry.encode(entry).finish() };
}
