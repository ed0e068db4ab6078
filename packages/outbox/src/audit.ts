// The audit trail (decisions §15). Entries are stored in the transaction of the change: by integrations in the trail, by others in the outbox.
import { randomUUID } from 'node:crypto';
import { now, topics } from '@truckroll/contract';
import { AuditActorKind, AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import { currentRequest } from '@truckroll/telemetry';
import type { OutgoingEvent } from './event.ts';

/** Company id of entries about the whole installation. */
export const NO_COMPANY = '00000000-0000-0000-0000-000000000000';

export interface AuditedChange {
  companyId: string;
  /** The client of the public API; undefined where an operator acted. */
  caller?: Caller | undefined;
  /** Default: the operator of the current request, or `unproven` outside one. */
  operator?: string | undefined;
  action: string;
  object: { kind: string; id: string };
  /** JSON texts without secrets. */
  before?: string | undefined;
  after?: string | undefined;
}

/** The entry for a change that is being made. Request id and operator come from the current request. Store it in the transaction of the change. */
export function auditEntry({ companyId, caller, operator, action, object, before, after }: AuditedChange): AuditEntry {
  const request = currentRequest();
  return {
    id: randomUUID(),
    at: now(),
    company_id: companyId,
    ...actorOf(caller, operator ?? request?.operator),
    action,
    object_kind: object.kind,
    object_id: object.id,
    before: before ?? null,
    after: after ?? null,
    request_id: request?.requestId ?? null,
    address: caller?.address ?? null,
  };
}

function actorOf(caller: Caller | undefined, operator = 'unproven'): Pick<AuditEntry, 'actor_kind' | 'actor_id'> {
  if (caller === undefined) return { actor_kind: AuditActorKind.OPERATOR, actor_id: operator };
  if (caller.key_id == null) return { actor_kind: AuditActorKind.USER, actor_id: caller.user_id };
  return { actor_kind: AuditActorKind.KEY, actor_id: caller.key_id };
}

const TOPICS = { scheduling: topics.schedulingAudit, billing: topics.billingAudit, reporting: topics.reportingAudit } as const;

export type AuditedService = keyof typeof TOPICS;

/** The entry as an event, by which services other than integrations record it: append it in the transaction of the change. */
export function auditEvent(service: AuditedService, change: AuditedChange): OutgoingEvent {
  return eventOfEntry(service, auditEntry(change));
}

export function eventOfEntry(service: AuditedService, entry: AuditEntry): OutgoingEvent {
  return {
    topic: TOPICS[service].name,
    // Every entry has its own key, because consumers apply only the latest event of a key.
    key: `${entry.company_id}/${entry.id}`,
    type: 'audit.entry',
    companyId: entry.company_id,
    id: entry.id,
    payload: AuditEntry.encode(entry).finish(),
  };
}
