// Pages of the audit trail: every event once, also those of one instant, and only those of the company.
import { randomUUID } from 'node:crypto';
import { now, topics } from '@truckroll/contract';
import { auditEntry } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { auditSubscriptions } from '../src/audit/subscriptions.ts';
import { insertAuditEntries, selectAuditEvents, type AuditFilter } from '../src/audit/store.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

const T = now();
const ALL: AuditFilter = { companyId: null, ids: [], from: null, before: null, actor: [], action: [], limit: 100, after: Buffer.alloc(0) };

/** Stores an event at each time. Resolves to their ids, newest first. */
async function recorded(companyId: string, ...times: number[]): Promise<string[]> {
  const entries = times.map((at) => ({ ...auditEntry({ companyId, action: 'api_key.created', object: { kind: 'api-keys', id: '1' } }), at }));
  await database.transaction((tx) => insertAuditEntries(tx, entries));
  return entries.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
}

async function read(filter: Partial<AuditFilter>): Promise<string[]> {
  const found: string[] = [];
  for (let after: Uint8Array = ALL.after; ; ) {
    const { events, next } = await selectAuditEvents(database, { ...ALL, ...filter, after });
    found.push(...events.map(({ event }) => event.id));
    if (next.length === 0) return found;
    after = next;
  }
}

test.each([1, 2, 3, 6, 100])('reads every event once in pages of %i, although several have the same time', async (limit) => {
  const companyId = randomUUID();
  const ids = await recorded(companyId, T - 1, T, T, T, T + 1, T + 1);
  await recorded(randomUUID(), T, T + 1);
  expect(await read({ companyId, limit })).toEqual(ids);
});

test('reads from the first time to before the second, of one company or of all', async () => {
  const [companyId, other] = [randomUUID(), randomUUID()];
  const [, last, first] = await recorded(companyId, T + 9, T + 10, T + 19, T + 20);
  const [elsewhere] = await recorded(other, T + 15);
  expect(await read({ companyId, from: T + 10, before: T + 20 })).toEqual([last, first]);
  expect(await read({ from: T + 10, before: T + 20, limit: 1 })).toEqual([last, elsewhere, first]);
  expect(await read({ companyId: other, ids: [first!, elsewhere!] })).toEqual([elsewhere]);
});

test('reads the events of one actor or action and of several, on one connection', async () => {
  const companyId = randomUUID();
  const entries = ['made', 'changed', 'ended'].map((action, place) => ({
    ...auditEntry({ companyId, operator: `o${place}`, action, object: { kind: 'api-keys', id: '1' } }),
    at: T + place,
  }));
  await database.transaction((tx) => insertAuditEntries(tx, entries));
  const ids = entries.map(({ id }) => id);
  await database.transaction(async (tx) => {
    const found = async (filter: Partial<AuditFilter>) =>
      (await selectAuditEvents(tx, { ...ALL, companyId, ...filter })).events.map(({ event }) => ids.indexOf(event.id));
    expect([await found({ action: ['changed'] }), await found({ action: ['changed', 'made'] })]).toEqual([[1], [1, 0]]);
    const [first, , last] = entries.map(({ actor_id }) => actor_id) as [string, string, string];
    expect([await found({ actor: [last] }), await found({ actor: [last, first] })]).toEqual([[2], [2, 0]]);
  });
});

test('takes the entries of every service that has a topic for them', () => {
  const named = Object.values(topics).filter(({ name }) => name.endsWith('.audit'));
  expect(named.length).toBeGreaterThan(0);
  expect(auditSubscriptions.map(({ topic }) => topic)).toEqual(named);
});
