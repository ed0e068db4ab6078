// What operators see of the WAL that PostgreSQL keeps for moves: with the role of integrations, which is no superuser.
import { randomUUID } from 'node:crypto';
import { Watchdog, runFolder } from '@truckroll/local-stack';
import { Database, createSession, migrate, type DatabaseSession } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { schema } from '../../services/integrations/src/schema.ts';
import { selectSlots, slotMetrics } from '../../services/integrations/src/companies/slots.ts';
import type { Cell } from '../../tools/cli/src/moving/cells.ts';
import { nameOf } from '../../tools/cli/src/moving/state.ts';
import { inWords, slotOf } from '../../tools/cli/src/moving/slot.ts';
import { startLogicalPostgres } from '../support/logical-postgres.ts';

const LEAVES = randomUUID();
const LEFT = randomUUID();

const folder = runFolder('move-slots-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
let admin: DatabaseSession;
let database: Database;
let cell: Cell;

const sql = async (text: string, ...values: unknown[]) => (await admin.query<any>({ text, values })).rows;

beforeAll(async () => {
  const url = await startLogicalPostgres(folder, watchdog);
  admin = await createSession({ url, statementTimeoutMs: 0 });
  await sql(`create role integrations login password 'p'`);
  await sql('create schema integrations authorization integrations');
  const own = Object.assign(new URL(url), { username: 'integrations', password: 'p' }).href;
  await migrate({ url: own, schema: schema.schema, sets: schema.migrations });
  database = new Database({ url: own, schema: schema.schema, maxConnections: 1 });
  cell = { db: await createSession({ url: own, statementTimeoutMs: 0 }) } as unknown as Cell;
}, 60_000);
afterAll(async () => {
  await cell?.db.close();
  await database?.close();
  await admin?.close();
  await watchdog.stopAll();
});

async function measured(): Promise<string[]> {
  const metrics = createMetrics('trial');
  const part = slotMetrics(database, silentLog, metrics);
  await part.start();
  const rendered = async () => (await metrics.render()).body;
  const body = await until('a round', rendered, (text) => text.includes('move_slots{'));
  await part.stop();
  return body.split('\n').flatMap((line) => /^(move_slot\S*?)\{.*?(state="\w+")?.*\} (\d+)/.exec(line)?.slice(1).join(' ') ?? []);
}

test('counts slots that are read, unread, and left behind by moves that have ended, and the WAL that is kept', async () => {
  for (const id of [LEAVES, LEFT]) await sql(`select pg_create_logical_replication_slot($1, 'pgoutput')`, nameOf(id));
  // Those of others are no concern of ours.
  for (const name of ['debezium', 'move_house']) await sql(`select pg_create_logical_replication_slot($1, 'pgoutput')`, name);
  await sql(`insert into integrations.moves (company_id, arrives, other, step) values ($1, false, 'o', 'following'), ($2, false, 'o', 'moved')`, LEAVES, LEFT);
  await sql(`select pg_logical_emit_message(false, 'test', repeat('x', 2000000), true)`);
  const slots = await selectSlots(database);
  const [leaves, left] = [LEAVES, LEFT].map((id) => slots.find(({ name }) => name === nameOf(id)));
  expect(slots).toHaveLength(2);
  expect([leaves, left]).toMatchObject([
    { read: false, needed: true },
    { read: false, needed: false },
  ]);
  expect(left!.kept_bytes).toBeGreaterThan(2_000_000);
  expect(left!.kept_bytes).toBeLessThan(10_000_000);
  expect(await measured()).toEqual([
    'move_slots state="read" 0',
    'move_slots state="unread" 1',
    'move_slots state="left" 1',
    expect.stringMatching(/^move_slot_kept_bytes {2}[2-9]\d{6}$/),
  ]);
});

test('a move says how much is kept for it, and for a slot that is left how to drop it', async () => {
  const slot = await slotOf(cell, LEAVES);
  expect(inWords(slot!, true)).toMatch(/^PostgreSQL keeps [3-9] MB of WAL for it, which the other cell does not read now\.$/);
  expect(inWords(slot!, false)).toContain(`run \`select pg_drop_replication_slot('${nameOf(LEAVES)}')\` here`);
  await sql(`select pg_drop_replication_slot($1)`, nameOf(LEAVES));
  expect(await slotOf(cell, LEAVES)).toBeUndefined();
});
