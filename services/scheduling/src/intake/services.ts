import type { Database } from '@truckroll/service-kit';

/** What recording and moving on work with. */
export interface IntakeServices {
  database: Database;
  /** Wakes the relay. */
  poke(): void;
}
