import type { Resource } from '@truckroll/contract';

export interface ListedRecord {
  id?: unknown;
  created_at?: unknown;
}

/** Share of a list before a record, 0 to 1, if ids or creation times are spread evenly. Undefined if it cannot be estimated. */
export function shareOf(order: Resource['order'], first: ListedRecord | undefined, last: ListedRecord | undefined, now = Date.now()): number | undefined {
  if (order === 'id') return /^[0-9a-f]{8}-/.test(String(last?.id)) ? Number.parseInt(String(last?.id).slice(0, 8), 16) / 2 ** 32 : undefined;
  const [from, to] = [Date.parse(String(first?.created_at)), Date.parse(String(last?.created_at))];
  return from < to && to <= now ? (to - from) / (now - from) : undefined;
}
