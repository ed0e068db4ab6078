import { migrationsIn } from '@truckroll/service-kit';

export const recordStoreMigrations = migrationsIn('record-store', new URL('../migrations/', import.meta.url));
