// How far a list has been read, by the place of a record in its order.
import type { Resource } from '@truckroll/contract';

/** What lists are ordered by. */
export interface Listed {
  id?: unknown;
  created_at?: unknown;
}

/**
 * How much of a list lies before a record of it, from 0 to 1, by its place in the list's order: ids are spread evenly, and
 * records are taken to be made at an even rate. Undefined where that says nothing.
 */
export function shareOf(order: Resource['order'], first: Listed | undefined, last: Listed | undefined, now = Date.now()): number | undefined {
  if (order === 'id') return /^[0-9a-f]{8}-/.test(String(last?.id)) ? Number.parseInt(String(last?.id).slice(0, 8), 16) / 2 ** 32 : undefined;
  const [from, to] = [Date.parse(String(first?.created_at)), Date.parse(String(last?.created_at))];
  return from < to && to <= now ? (to - from) / (now - from) : undefined;
}
