// Simulates a month and a half: each day some writes and webhooks, then all rows become a day older and the services restart,
// which is when they delete expired rows.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { resource } from '@truckroll/contract';
import { generateCompany } from '@truckroll/demo-company';
import { STATE, say } from '@truckroll/local-stack';
import { Database } from '@truckroll/postgres';
import pg from 'pg';
import { companyId } from '../data/companies.ts';
import { importFile } from '../data/import.ts';
import { KeyFile, Operator } from '../system/operator.ts';
import { drained } from '../system/outbox.ts';
import { callCredential, startGateway, startServices } from '../system/programs.ts';
import { Stack } from '../system/stack.ts';
import { drainBacklog } from '../webhooks/backlog.ts';
import { createEndpoints } from '../webhooks/endpoints.ts';
import { startSinks, type Sinks } from '../webhooks/sinks.ts';
import { SCENARIOS } from '../k6/scenarios/index.ts';
import { discover } from '../k6/scenarios/world.ts';
import { nodeClient } from './node-client.ts';

const DATABASE = 'truckroll_retention';
const FOLDER = join(STATE, 'load-retention');
const DAYS = 45;
/** By this day everything that is kept for 30 days has reached its full size. */
const FULL_AFTER = 33;
/** Maximum growth of a bounded table after that; the margin is for half-empty pages. */
export const MOST_GROWTH = 1.2;
const LOOK_EVERY = 3;
const WRITES = 40;
const EVENTS = 400;
/** Tables that grow by the day; the log includes its partitions. */
const KEPT = [
  'scheduling.idempotency_keys',
  'integrations.webhook_events',
  'integrations.webhook_deliveries',
  'integrations.webhook_attempts',
  'integrations.webhook_counts',
  'integrations.webhook_queue',
  'scheduling.outbox',
];
const LOG = ['webhook_events', 'webhook_deliveries', 'webhook_attempts'];

export interface Look {
  readonly day: number;
  readonly rows: number;
  /** Bytes. */
  readonly tables: number;
  readonly indexes: number;
  readonly dead: number;
  readonly parts: number;
}

export interface Retention {
  readonly looks: Readonly<Record<string, readonly Look[]>>;
  /** Size on the last day ÷ size on day FULL_AFTER, by table. */
  readonly growth: Readonly<Record<string, number>>;
}

export async function measureRetention(days = DAYS): Promise<Retention> {
  const stack = await Stack.start(DATABASE, FOLDER);
  const sinks = await startSinks();
  const database = new Database({ url: stack.databaseUrl, schema: 'scheduling', maxConnections: 2 });
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  try {
    await client.connect();
    return await live({ stack, sinks, database, client }, days);
  } finally {
    sinks.stop();
    await client.end();
    await database.close();
    await stack.close();
  }
}

interface Site {
  readonly stack: Stack;
  readonly sinks: Sinks;
  readonly database: Database;
  readonly client: pg.Client;
}

async function live({ stack, sinks, database, client }: Site, days: number): Promise<Retention> {
  const env = { KAFKA_PREFIX: `${randomBytes(4).toString('hex')}.`, ...sinks.environment, LOG_LEVEL: 'warn' };
  for (const schema of ['scheduling', 'integrations']) await database.query({ text: `drop schema if exists ${schema} cascade` });
  const company = companyId('retention');
  const keys = new KeyFile(join(FOLDER, 'keys.json'));
  keys.forget();
  const looks: Record<string, Look[]> = Object.fromEntries(KEPT.map((table) => [table, []]));
  let endpoints: Awaited<ReturnType<typeof createEndpoints>> = [];
  for (let day = 1; day <= days; day++) {
    const services = await startServices(stack, ['integrations', 'scheduling'], env);
    const { integrations } = services.running;
    const dispatcher = await stack.launch({
      name: 'webhook-dispatcher',
      script: 'services/webhook-dispatcher/src/main.ts',
      env: { ...env, CALL_CREDENTIAL: callCredential('webhook-dispatcher'), INTEGRATIONS_ADDRESS: `127.0.0.1:${integrations.port}` },
    });
    const gateway = await startGateway(stack, services);
    const operator = new Operator(integrations.port);
    if (day === 1) {
      await operator.createCompany({ id: company, name: 'Retention', timezone: 'America/Chicago', files: [] });
      for (const file of generateCompany({ seed: 31, size: 60, timezone: 'America/Chicago', until: '2026-06-30T18:00:00Z' })) {
        if (resource(file.path).owner === 'scheduling') await importFile(services.channels, company, file, () => undefined);
      }
      endpoints = await createEndpoints(
        services.channels.integrations,
        Array.from({ length: 5 }, () => sinks.urls.well),
      );
    }
    await write(`http://127.0.0.1:${gateway.port}`, await keys.of(company, operator), day);
    await drainBacklog(database, endpoints, sinks, EVENTS);
    await drained(client, 'scheduling');
    await gateway.stop();
    await dispatcher.stop();
    await Promise.all([services.stop('integrations'), services.stop('scheduling')]);
    await client.query('vacuum (analyze)');
    for (const table of KEPT) {
      const look = { day, ...(await lookAt(client, table)) };
      looks[table]?.push(look);
      if (day % LOOK_EVERY === 0)
        say(
          `day ${day}, ${table}: ${look.rows} rows, ${kilobytes(look.tables)} and indexes of ${kilobytes(look.indexes)}, ${look.dead} dead, ${look.parts} parts`,
        );
    }
    await makeOlder(client);
  }
  return { looks, growth: growthOf(looks) };
}

async function write(baseUrl: string, key: string, day: number): Promise<void> {
  const client = nodeClient(baseUrl);
  const world = await worldOf(client, key, day);
  for (let number = 0; number < WRITES; number++) await SCENARIOS.write.run(client, world, { number, own: {} });
  if (client.faults.length > 0) throw new Error(client.faults[0]);
}

/** Billing does not run here: its lists are answered as empty. */
function worldOf({ send }: ReturnType<typeof nodeClient>, usual: string, day: number) {
  const absent = JSON.stringify({ data: [], pagination: { next_cursor: null } });
  return discover((ask) => (/^\/v1\/(invoices|payments|job-financials)/.test(ask.path) ? Promise.resolve(absent) : send(ask)), { usual }, `day-${day}`);
}

/** Makes all expiring rows a day older; rows of the log move to the previous day's partition. */
async function makeOlder(client: pg.Client): Promise<void> {
  // Disable the triggers that count insertions and deletions.
  await client.query('set session_replication_role = replica');
  await client.query(`update scheduling.idempotency_keys set created_at = created_at - interval '1 day'`);
  // Oldest first, because a count may collide with that of the previous day.
  await client.query('create temporary table aged as select * from integrations.webhook_counts');
  await client.query(`update aged set at = at - interval '1 day'`);
  await client.query('delete from integrations.webhook_counts');
  await client.query('insert into integrations.webhook_counts select * from aged');
  await client.query('drop table aged');
  const { rows } = await client.query<{ oldest: string | null }>(`select (min(day) - 1)::text as oldest from integrations.webhook_events`);
  const oldest = rows[0]?.oldest ?? undefined;
  if (oldest !== undefined) {
    for (const table of LOG) {
      const part = `integrations.${table}_${oldest.replaceAll('-', '')}`;
      await client.query(`create table if not exists ${part} partition of integrations.${table} for values from ('${oldest}') to ('${oldest}'::date + 1)`);
      await client.query(`update integrations.${table} set day = day - 1`);
    }
  }
  await client.query('reset session_replication_role');
}

async function lookAt(client: pg.Client, table: string): Promise<Omit<Look, 'day'>> {
  const { rows } = await client.query<Record<'rows' | 'tables' | 'indexes' | 'dead' | 'parts', string>>(
    `with parts as (select $1::regclass as id union all select inhrelid from pg_inherits where inhparent = $1::regclass)
    select (select count(*) from ${table}) as rows, sum(pg_table_size(id)) as tables, sum(pg_indexes_size(id)) as indexes,
      (select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where relid in (select id from parts)) as dead, count(*) as parts
    from parts`,
    [table],
  );
  const [row] = rows;
  const of = (name: 'rows' | 'tables' | 'indexes' | 'dead' | 'parts'): number => Number(row?.[name]);
  return { rows: of('rows'), tables: of('tables'), indexes: of('indexes'), dead: of('dead'), parts: of('parts') };
}

function growthOf(looks: Readonly<Record<string, readonly Look[]>>): Record<string, number> {
  const room = (look: Look | undefined): number => (look?.tables ?? NaN) + (look?.indexes ?? NaN);
  return Object.fromEntries(Object.entries(looks).map(([table, all]) => [table, room(all.at(-1)) / room(all.find(({ day }) => day >= FULL_AFTER))]));
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KB`;
}
