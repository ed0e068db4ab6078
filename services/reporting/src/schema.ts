import { catchUpMigrations } from '@truckroll/catch-up';
import { changeMigrations } from '@truckroll/change-feed';
import { outboxTables } from '@truckroll/outbox';
import { migrationsIn, type MigrationSet } from '@truckroll/postgres';
import { recordStoreMigrations, withProjections } from '@truckroll/record-store';
import { projected } from './projections.ts';
import { SUMMARIES_VERSION } from './facts/definitions.ts';

const own = migrationsIn('reporting', new URL('../migrations/', import.meta.url));

/** A migration announces each version of the sums: from then on, writes by earlier releases are marked (migrations/0009_versions_of_sums.sql). */
const versions: MigrationSet = {
  name: 'summaries',
  migrations: Array.from({ length: SUMMARIES_VERSION - 1 }, (_, i) => ({
    name: `${String(i + 2).padStart(4, '0')}_version`,
    sql: `select raise_summaries(${i + 2})`,
  })),
};

export const schema = withProjections(
  { schema: 'reporting', migrations: [catchUpMigrations, recordStoreMigrations, outboxTables, changeMigrations, own, versions] },
  projected,
);

/** Settings for transactions that update sums with their changes. After changes by other writers, sums are rebuilt. */
export const keepingSettings = { ...schema.settings, 'truckroll.keeps_summaries': String(SUMMARIES_VERSION) };
