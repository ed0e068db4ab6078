import { migrationsIn } from '@truckroll/postgres';

export const recordStoreMigrations = migrationsIn('record-store', new URL('../migrations/', import.meta.url));
