import { migrationsIn } from '@truckroll/service-kit';

/** The tables that the record store itself needs in every service's schema. */
export const recordStoreMigrations = migrationsIn('record-store', new URL('../migrations/', import.meta.url));
