import { migrationsIn } from '@truckroll/service-kit';

/** The record store's own tables, needed in every service's schema. */
export const recordStoreMigrations = migrationsIn('record-store', new URL('../migrations/', import.meta.url));
