import type { Database } from '@truckroll/postgres';

export interface IntakeServices {
  database: Database;
  poke(): void;
}
