import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Owner } from '@truckroll/contract';
import { parentOf } from '../measure/cpu.ts';
import type { Stack } from './stack.ts';

const LOOK_MS = 20;

/** Runs `work` with a connection to the benchmark's database. */
export async function withClient<T>({ databaseUrl }: Pick<Stack, 'databaseUrl'>, work: (client: pg.Client) => Promise<T>, options?: string): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, ...(options !== undefined && { options }) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A connection that stays open until the stack closes. */
export async function openClient({ databaseUrl }: Pick<Stack, 'databaseUrl'>): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** The postmaster, whose children serve the connections. */
export function postgresPid(stack: Stack): Promise<number> {
  return withClient(stack, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return parentOf(rows[0]?.pid ?? 0) ?? 0;
  });
}

/** Makes what `name` describes, unless the database holds it, and settles. An interrupted `make` runs again. */
export async function once(client: pg.Client, name: string, make: () => Promise<void>, publishers: readonly Owner[] = []): Promise<void> {
  await client.query('create table if not exists public.made (name text primary key)');
  if ((await client.query('select from public.made where name = $1', [name])).rowCount !== 0) return;
  await make();
  await settle(client, publishers);
  await client.query('insert into public.made values ($1)', [name]);
}

/** Resolves when these services have published their events and tables are vacuumed, so that no work runs during the measurement. */
export async function settle(client: pg.Client, publishers: readonly Owner[]): Promise<void> {
  for (const schema of publishers) await published(client, schema);
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
}

/** Resolves when a service has published its events. */
export function published(client: pg.Client, schema: Owner): Promise<void> {
  return untilNone(client, `select from ${schema}.outbox limit 1`);
}

/** Resolves when the statement returns no row. Its polling adds half of LOOK_MS to what is measured. */
export async function untilNone(client: pg.Client, text: string, values: unknown[] = []): Promise<void> {
  while ((await client.query(text, values)).rowCount !== 0) await delay(LOOK_MS);
}
