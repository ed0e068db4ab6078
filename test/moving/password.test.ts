// The password of the cell that a company leaves is part of a statement in the other one.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { owners } from '@truckroll/contract';
import { Watchdog, runFolder } from '@truckroll/local-stack';
import { createSession } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { openCell, type Cell } from '../../tools/cli/src/moving/cells.ts';
import { subscribe } from '../../tools/cli/src/moving/replicate.ts';
import type { Session } from '../../tools/cli/src/session.ts';
import { startLogicalPostgres } from '../support/logical-postgres.ts';

const folder = runFolder('move-password-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
let cell: Cell;

beforeAll(async () => {
  const url = await startLogicalPostgres(folder, watchdog);
  const session = await createSession({ url, statementTimeoutMs: 0 });
  for (const owner of owners) await session.query({ text: `create schema ${owner}` });
  await session.close();
  cell = await openCell('the other cell', { database: () => ({ url }) } as unknown as Session);
}, 60_000);
afterAll(async () => {
  await cell?.close();
  await watchdog.stopAll();
});

test('PostgreSQL does not log it when it cannot reach that cell, and logs other statements that fail', async () => {
  await expect(subscribe(cell, randomUUID(), 'postgres://truckroll:in-no-log@127.0.0.1:1/x')).rejects.toThrow();
  await expect(cell.db.query({ text: 'select 1 / 0 as after_it' })).rejects.toThrow();
  const log = await until(
    'the log',
    () => readFileSync(join(folder, 'logs', 'postgres.log'), 'utf8'),
    (text) => text.includes('after_it'),
  );
  expect(log).toContain('could not connect to the publisher');
  expect(log).not.toContain('in-no-log');
});
