// Every table of every schema is either emptied of a deleted company or listed here with the reason why it holds nothing of one.
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { keyedRules, rulesOf } from '../../packages/erasure/src/tables.ts';
import { rules } from '../../services/integrations/src/companies/leave.ts';
import { SCHEMAS } from '../support/components.ts';

/** Tables of any schema that hold nothing of a company, and why. */
const NOTHING_OF_A_COMPANY: Readonly<Record<string, string>> = {
  applied_until: 'times of sources',
  catch_up: 'a cursor over all companies, which the removal moves',
  erased_companies: 'the removal itself, by a hash when it has ended',
  inbox: 'random ids of events',
  migration: 'names of migrations',
  outbox: 'events on their way to Kafka: the removal waits for them',
  pending_invalidations: 'messages on their way to Redis: the removal waits for them',
  positions: 'offsets of topics',
  projection_release: 'a number',
  watermarks: 'offsets of topics',
  webhook_workers: 'ids of processes',
};

test.each(SCHEMAS.map(({ schema }) => schema))('%s empties every table of a deleted company, except those listed', async (schema) => {
  const fresh = await freshDatabase(Object.fromEntries(SCHEMAS.map((each) => [each.schema, each.migrations])));
  const database = new Database({ url: fresh.url, schema, maxConnections: 1 });
  try {
    const found = await rulesOf(database, [...(schema === 'integrations' ? rules : []), ...keyedRules([])]);
    const emptied = new Set(found.flatMap((rule) => [rule.table, ...(rule.with === undefined ? [] : [rule.with.table])]));
    const { rows } = await database.query<{ table: string }>({
      text: `select c.relname::text as table from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
    });
    const forgotten = rows.map(({ table }) => table).filter((table) => !emptied.has(table) && NOTHING_OF_A_COMPANY[table] === undefined);
    expect(forgotten).toEqual([]);
    expect([...emptied].filter((table) => table in NOTHING_OF_A_COMPANY)).toEqual([]);
    // Every condition is one that PostgreSQL accepts.
    for (const { table, where } of found)
      await database.query({ text: `select from ${table} where ${where} limit 1`, values: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'] });
  } finally {
    await database.close();
    await fresh.drop();
  }
});
