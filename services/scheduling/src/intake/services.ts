import type { Database } from '@truckroll/postgres';

export interface IntakeServices {
  database: Database;
  /** Wakes the relay. */
  poke(): void;
}
