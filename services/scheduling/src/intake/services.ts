import type { Database } from '@truckroll/service-kit';

export interface IntakeServices {
  database: Database;
  /** Wakes the relay. */
  poke(): void;
}
