import { Database } from '@truckroll/postgres';
import type { System } from './system.ts';

/**
 * While `work` runs, no service of the schema projects rows again. What it writes counts as written by an older release, because
 * its connections name no rules.
 */
export async function holdingProjections(system: System, schema: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = new Database({ url: system.serviceEnvironment['DATABASE_URL'] ?? '', schema, maxConnections: 2 });
  const session = await database.session();
  try {
    await session.query({ text: `select pg_advisory_lock(hashtextextended('projections of ' || current_schema(), 0))` });
    await work(database);
  } finally {
    await session.close();
    await database.close();
  }
}
