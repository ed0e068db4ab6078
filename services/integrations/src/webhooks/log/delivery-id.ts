// Delivery ids: UUIDs of version 8 (RFC 9562) with the event's time in ms (48 bits) and a hash of event and endpoint. They make fan-out
// idempotent, determine the log's partition, and sort deliveries by event time.
import { hash } from 'node:crypto';
import { formatDate } from '@truckroll/contract';

const DAY_MS = 86_400_000;

/** `occurredAt` in microseconds. */
export function deliveryId(occurredAt: number, eventId: string, endpointId: string): string {
  const time = timePart(occurredAt);
  const digest = hash('sha256', `${eventId} ${endpointId}`, 'hex');
  const variant = ((parseInt(digest.charAt(3), 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** Not after the id of any delivery whose event is of this time or later, in microseconds. */
export function firstIdAt(occurredAt: number): string {
  const time = timePart(Math.max(0, occurredAt));
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function timePart(occurredAt: number): string {
  return Math.floor(occurredAt / 1000)
    .toString(16)
    .padStart(12, '0');
}

/** Time of the delivery's event in microseconds, rounded down to a millisecond. */
export function timeOfDelivery(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000;
}

/** UTC day of the partition, such as `2026-03-01`. Any UUID has one, even if it is not a delivery's. */
export function dayOfDelivery(id: string): string {
  return dayOf(timeOfDelivery(id));
}

/** `occurredAt` in microseconds. Limits the day to MOST_DAYS, because later ones have five-digit years. */
export function dayOf(occurredAt: number): string {
  return formatDate(Math.min(Math.floor(occurredAt / 1000 / DAY_MS), MOST_DAYS));
}

/** 9999-12-31. */
const MOST_DAYS = 2_932_896;
