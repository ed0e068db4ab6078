import type { ListParkedEventsResponse, ParkingServiceService, RetryParkedEventsResponse } from '@truckroll/contract/gen/events/v1/parking';
import type { Handlers } from '@truckroll/grpc';
import { isUnavailable, type Database } from '@truckroll/postgres';
import { listDeadLetters } from './dead-letters.ts';
import type { Subscriber } from './subscription.ts';

const MOST = 1000;

/** Serves ParkingService, the protocol's name for dead letters, for a service with one subscriber. */
export function deadLetterHandlers(database: Database, subscriber: Subscriber, group: string): Handlers<typeof ParkingServiceService> {
  return {
    listParkedEvents: ({ limit }): Promise<ListParkedEventsResponse> => listDeadLetters(database, group, Math.min(Math.max(limit, 1), MOST)),
    retryParkedEvents: () => retryDeadLetters(subscriber),
  };
}

/** Applies dead letters again, oldest first, up to the first that fails; `reason` is its error. Rejects if the database is unavailable. */
export async function retryDeadLetters(subscriber: Subscriber): Promise<RetryParkedEventsResponse> {
  let applied = 0;
  try {
    for (let last = await subscriber.retryDeadLetter(0); last !== undefined; last = await subscriber.retryDeadLetter(last)) applied += 1;
    return { applied, reason: null };
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return { applied, reason: String(error).slice(0, 2000) };
  }
}
