// Lists under /api/v1 end a page early by its size (decisions §17).
import { messageJson } from '@truckroll/contract';

/** Maximum size of the records on a page, in bytes of JSON and of what is read for it. The first record may exceed it. */
export const MOST_PAGE_BYTES = 1_000_000;

/** The first records, of this type, that fit a page together; at least one. */
export function fitting<T extends object>(typeName: string, records: readonly T[]): T[] {
  let room = MOST_PAGE_BYTES;
  const end = records.findIndex((record, index) => (room -= Buffer.byteLength(messageJson(typeName, record, 'camel'))) < 0 && index > 0);
  return end === -1 ? [...records] : records.slice(0, end);
}
