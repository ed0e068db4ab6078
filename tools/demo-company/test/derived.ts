import { DAY, Zone, parseInstant } from '../src/time.ts';
import type { Json } from './company.ts';

/** Derived values by api.md and decisions §1: what a service returns for the fields that the generator leaves out. */

export function dispatchStatus(visit: Json, assignments: readonly Json[]): string {
  if (visit.canceled) return 'CANCELED';
  const statuses = assignments.map(({ status }) => status).filter((status) => status !== 'CANCELED');
  if (statuses.length === 0) return 'UNASSIGNED';
  if (statuses.every((status) => status === 'COMPLETED')) return 'COMPLETED';
  if (statuses.some((status) => status === 'IN_PROGRESS' || status === 'PAUSED')) return 'IN_PROGRESS';
  return statuses.some((status) => status === 'EN_ROUTE' || status === 'COMPLETED') ? 'DISPATCHED' : 'ASSIGNED';
}

let lastZone: Zone | undefined;

/** Cached, because reading a zone's transitions from the runtime is slow. */
function zoneOf(name: string, now: number): Zone {
  if (lastZone?.name !== name) lastZone = new Zone(name, now - 1000 * DAY, now + 200 * DAY);
  return lastZone;
}

export function agingOf(invoice: Json, timezone: string, until: string): { days: number | null; bucket: string } | null {
  if (invoice.status !== 'OPEN') return null;
  if (invoice.due_at === null) return { days: null, bucket: 'CURRENT' };
  const now = parseInstant(until);
  const zone = zoneOf(timezone, now);
  const days = zone.day(now) - zone.day(parseInstant(invoice.due_at));
  const bucket = days <= 0 ? 'CURRENT' : days <= 30 ? 'PAST_DUE_1_30' : days <= 60 ? 'PAST_DUE_31_60' : days <= 90 ? 'PAST_DUE_61_90' : 'PAST_DUE_91_PLUS';
  return { days, bucket };
}

export function applicationsOf(payments: readonly Json[]): Map<string, { status: string | null; cents: number }[]> {
  const byInvoice = new Map<string, { status: string | null; cents: number }[]>();
  for (const { status, invoice_allocations: allocations } of payments) {
    for (const { invoice_id: id, applied_cents: cents } of allocations as Json[]) {
      byInvoice.set(id, [...(byInvoice.get(id) ?? []), { status, cents }]);
    }
  }
  return byInvoice;
}

export function groupBy(records: readonly Json[], field: string): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  for (const record of records) groups.set(record[field], [...(groups.get(record[field]) ?? []), record]);
  return groups;
}
