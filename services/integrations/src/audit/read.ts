// Companies see their own audit trail, operators see all of it.
import { ApiError } from '@truckroll/contract';
import type {
  AuditEvent,
  ListAuditEventsRequest,
  ListAuditEventsResponse,
  ListAuditTrailRequest,
  ListAuditTrailResponse,
} from '@truckroll/contract/gen/integrations/v1/audit';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { selectAuditEvents } from './store.ts';

async function list({ database }: Context, request: ListAuditEventsRequest): Promise<ListAuditEventsResponse> {
  const { collection, from, before, actor, action } = checked('ListAuditEventsRequest', request);
  if (collection == null) throw ApiError.internal(new Error('a list request has no collection'));
  const { company_id: companyId, limit, ids } = collection;
  const after = request.collection?.after ?? new Uint8Array();
  const { events, next } = await selectAuditEvents(database.of(companyId), { companyId, ids, from, before, actor, action, limit, after });
  return { data: events.map(({ event }) => event), next };
}

async function listTrail({ database }: Context, request: ListAuditTrailRequest): Promise<ListAuditTrailResponse> {
  const { company_id, from, before, actor, action, limit } = checked('ListAuditTrailRequest', request);
  const filter = { companyId: company_id ?? null, ids: [], from, before, actor, action, limit, after: request.after };
  const { events, next } = await selectAuditEvents(database, filter);
  return { events: events.map(({ company_id: company, event }) => ({ company_id: company, event: forOperators(event) })), next };
}

/** Reduces the URLs of endpoints to their origin, because the path or query may contain a secret. */
function forOperators(event: AuditEvent): AuditEvent {
  if (event.object?.kind !== 'webhooks') return event;
  return { ...event, before: withOrigin(event.before), after: withOrigin(event.after) };
}

function withOrigin(json: string | null | undefined): string | null {
  if (json == null) return null;
  const state = JSON.parse(json) as Record<string, unknown>;
  const url = state['url'];
  return typeof url === 'string' ? JSON.stringify({ ...state, url: new URL(url).origin }) : json;
}

export const auditTrail = { listAuditEvents: list };
export const auditAdmin = { listAuditTrail: listTrail };
