import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { Schema } from '@truckroll/local-stack';

/** Resolves when a service has told all that it has to tell: its events are part of what was done before. */
export async function drained(client: pg.Client, schema: Schema): Promise<void> {
  while ((await client.query(`select from ${schema}.outbox limit 1`)).rowCount !== 0) await setTimeout(100);
}
