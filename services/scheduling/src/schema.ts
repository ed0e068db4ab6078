import { catchUpMigrations } from '@truckroll/catch-up';
import { changeMigrations } from '@truckroll/change-feed';
import { outboxTables } from '@truckroll/outbox';
import { migrationsIn } from '@truckroll/postgres';
import { recordStoreMigrations, withProjections } from '@truckroll/record-store';
import { interactions, serviceRequests } from './intake/tables.ts';
import { tables } from './resources/index.ts';

const own = migrationsIn('scheduling', new URL('../migrations/', import.meta.url));

export const schema = withProjections({ schema: 'scheduling', migrations: [catchUpMigrations, recordStoreMigrations, outboxTables, changeMigrations, own] }, [
  ...tables,
  serviceRequests,
  interactions,
]);
