// Every table of every schema is either emptied of a deleted company or listed here with the reason why it holds nothing of one. Batches are
// small and read indexes, and the last round misses nothing.
import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { freshDatabase, openFreshDatabase } from '@truckroll/testing';
import { removeNext, type Removing } from '../../packages/erasure/src/remove.ts';
import { keyedRules, rulesOf } from '../../packages/erasure/src/tables.ts';
import { markErased } from '../../packages/outbox/src/index.ts';
import { rules } from '../../services/integrations/src/companies/leave.ts';
import { schema as integrations } from '../../services/integrations/src/schema.ts';
import { Partitions } from '../../services/integrations/src/webhooks/log/partitions.ts';
import { schema as reporting } from '../../services/reporting/src/schema.ts';
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

/** Tables of which a batch may read every row, because they have few. */
const SMALL = ['parked_event', 'pending_invalidations'];
const COMPANY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const DAYS = ['2026-11-20', '2026-11-21', '2026-11-22'];

test.each(SCHEMAS.map(({ schema }) => schema))('%s empties every table of a deleted company, except those listed', async (schema) => {
  const fresh = await freshDatabase(Object.fromEntries(SCHEMAS.map((each) => [each.schema, each.migrations])));
  const database = new Database({ url: fresh.url, schema, maxConnections: 1, settings: { enable_seqscan: 'off' } });
  try {
    if (schema === 'integrations') await new Partitions(database, silentLog).ensure(DAYS);
    const found = await rulesOf(database, [...(schema === 'integrations' ? rules : []), ...keyedRules([])]);
    const emptied = new Set(found.flatMap((rule) => [rule.table, ...Object.keys(rule.with?.rows ?? {})]));
    const { rows } = await database.query<{ table: string }>({
      text: `select c.relname::text as table from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
    });
    const forgotten = rows.map(({ table }) => table).filter((table) => !emptied.has(table) && NOTHING_OF_A_COMPANY[table] === undefined);
    expect(forgotten).toEqual([]);
    expect([...emptied].filter((table) => table in NOTHING_OF_A_COMPANY)).toEqual([]);
    // Every condition is one that PostgreSQL accepts, and finds by an index.
    const scanned: string[] = [];
    for (const { table, only, where } of found) {
      const plan = await database.query({ text: `explain select ctid from only ${only} where ${where} limit 1000`, values: [COMPANY] });
      if (JSON.stringify(plan.rows).includes('Seq Scan')) scanned.push(table);
    }
    expect(scanned.filter((table) => !SMALL.includes(table))).toEqual([]);
  } finally {
    await database.close();
    await fresh.drop();
  }
});

async function removingFrom(database: Database, own: Removing['own'], prepare: () => Promise<void> = async () => undefined): Promise<Removing> {
  await markErased(database, COMPANY);
  const restored = { schema: '', states: [], groups: [] };
  const removing = { database, catchUp: undefined as never, log: silentLog, restored, own, prepare, kinds: [], people: { steps: [] }, poke: () => undefined };
  const all = { ...removing, at: new Map(), clean: new Set<string>(), said: new Map() };
  await removeNext(all);
  // Long ago, so that no call that was admitted before is waited for.
  await database.query({ text: `update erased_companies set closed_at = closed_at - interval '1 minute'` });
  return all;
}

const countOf = async (database: Database, text: string): Promise<number> => (await database.query<{ count: number }>({ text })).rows[0]!.count;

test('a batch has at most 1,000 rows of all days together, and webhooks go with the log of events', async () => {
  const { database, close } = await openFreshDatabase(integrations);
  try {
    await new Partitions(database, silentLog).ensure(DAYS);
    const inserted = (table: string, columns: string, values: string): string =>
      `insert into ${table} (day, company_id, id, ${columns}) select d, $1, md5(d || ' ' || n)::uuid, ${values} from unnest($2::date[]) d, generate_series(1, 600) n`;
    const values = [COMPANY, DAYS];
    await database.query({ text: inserted('webhook_event_log', 'occurred_at, type, subject, sequence', `d, '', '', n`), values });
    await database.query({ text: inserted('webhook_events', 'type, body', `'', ''`), values });
    const removing = await removingFrom(database, rules);
    expect(await removeNext(removing)).toBe(true);
    for (const table of ['webhook_event_log', 'webhook_events']) expect(await countOf(database, `select count(*) from ${table}`)).toBe(800);
  } finally {
    await close();
  }
});

test('the last round begins when nothing can arrive any more, and until then nothing is read twice', async () => {
  const { database, close } = await openFreshDatabase(reporting);
  try {
    const waits = (): Promise<unknown> =>
      database.query({ text: `insert into outbox (event_id, topic, key, type, company_id) values (gen_random_uuid(), 't', 'k', 'x', $1)`, values: [COMPANY] });
    const published = (): Promise<unknown> => database.query({ text: 'delete from outbox' });
    let rounds = 0;
    // After the round has looked at the jobs, a transaction stores one, and the last message leaves.
    const removing = await removingFrom(database, [{ table: 'names', where: 'company_id = $1::uuid', last: true }], async () => {
      rounds += 1;
      if (rounds > 1) return;
      await database.query({ text: `insert into jobs (company_id, id, document, digest) values ($1, $1, '', '')`, values: [COMPANY] });
      await published();
    });
    await waits();
    expect(await removeNext(removing)).toBe(false);
    await waits();
    expect(await removeNext(removing)).toBe(false);
    expect(rounds).toBe(1);
    await published();
    while (await removeNext(removing));
    expect(await countOf(database, 'select count(*) from jobs')).toBe(0);
    expect(await countOf(database, 'select count(*) from erased_companies where ended_at is not null')).toBe(1);
  } finally {
    await close();
  }
});
