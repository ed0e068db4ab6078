import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { Owner } from '@truckroll/contract';

/** Resolves when the service has published everything in its outbox, so that publishing does not run into the next measurement. */
export async function drained(client: pg.Client, schema: Owner): Promise<void> {
  while ((await client.query(`select from ${schema}.outbox limit 1`)).rowCount !== 0) await setTimeout(100);
}
