import type { ListParkedEventsResponse, ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { isUnavailable, type Database, type Handlers } from '@truckroll/service-kit';
import { listParked } from './parking.ts';
import type { Subscriber } from './subscription.ts';

export interface ParkingOptions {
  readonly database: Database;
  /** Of the subscriber. */
  readonly group: string;
  readonly subscriber: Subscriber;
}

const MOST = 1000;

/** ParkingService of a service that has one subscriber. */
export function parkingHandlers({ database, group, subscriber }: ParkingOptions): Handlers<typeof ParkingServiceService> {
  return {
    listParkedEvents: ({ limit }): Promise<ListParkedEventsResponse> => listParked(database, group, Math.min(Math.max(limit, 1), MOST)),
    async retryParkedEvents() {
      let applied = 0;
      try {
        await subscriber.retryParked(() => (applied += 1));
        return { applied, reason: null };
      } catch (error) {
        if (isUnavailable(error)) throw error;
        return { applied, reason: String(error).slice(0, 2000) };
      }
    },
  };
}
