import type { ListParkedEventsResponse, ParkingServiceService, RetryParkedEventsResponse } from '@truckroll/contract/gen/events/v1/parking';
import { isUnavailable, type Database, type Handlers } from '@truckroll/service-kit';
import { listDeadLetters } from './dead-letters.ts';
import type { Subscriber } from './subscription.ts';

export interface DeadLetterOptions {
  readonly database: Database;
  /** Of the subscriber. */
  readonly group: string;
  readonly subscriber: Subscriber;
}

const MOST = 1000;

/** Dead letters of a service that has one subscriber: ParkingService, as the protocol calls it. */
export function deadLetterHandlers({ database, group, subscriber }: DeadLetterOptions): Handlers<typeof ParkingServiceService> {
  return {
    listParkedEvents: ({ limit }): Promise<ListParkedEventsResponse> => listDeadLetters(database, group, Math.min(Math.max(limit, 1), MOST)),
    retryParkedEvents: () => retryDeadLetters(subscriber),
  };
}

/** Applies what it can, up to the first that fails again. */
export async function retryDeadLetters(subscriber: Subscriber): Promise<RetryParkedEventsResponse> {
  let applied = 0;
  try {
    await subscriber.retryDeadLetters(() => (applied += 1));
    return { applied, reason: null };
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return { applied, reason: String(error).slice(0, 2000) };
  }
}
