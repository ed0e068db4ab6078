import { randomUUID } from 'node:crypto';
import { Database, isLockTimeout, type Transaction } from '@truckroll/postgres';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { lockCompany, lockPart } from '../src/lock.ts';

let fresh: TestDatabase;
let billing: Database;
let reporting: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ billing: [], reporting: [] });
  [billing, reporting] = ['billing', 'reporting'].map((schema) => new Database({ url: fresh.url, schema, maxConnections: 4 })) as [Database, Database];
});
afterAll(async () => {
  await Promise.all([billing.close(), reporting.close()]);
  await fresh.drop();
});

async function isHeld(database: Database, companyId: string, part?: string): Promise<boolean> {
  const look = async (tx: Transaction): Promise<void> => {
    await tx.query({ text: `set local lock_timeout = '100ms'` });
    await (part === undefined ? lockCompany(tx, companyId) : lockPart(tx, companyId, part));
  };
  return await database.transaction(look).then(
    () => false,
    (error: unknown) => {
      if (isLockTimeout(error)) return true;
      throw error;
    },
  );
}

test('locks a company within one service, independently of other services on the same database', async () => {
  const companyId = randomUUID();
  await billing.transaction(async (tx) => {
    await lockCompany(tx, companyId);
    expect(await isHeld(billing, companyId)).toBe(true);
    expect(await isHeld(reporting, companyId)).toBe(false);
    expect(await isHeld(billing, randomUUID())).toBe(false);
  });
  expect(await isHeld(billing, companyId)).toBe(false);
});

test('does not make parts of a company wait for each other, but makes a lock of the company wait for all of them', async () => {
  const companyId = randomUUID();
  await reporting.transaction(async (tx) => {
    await lockPart(tx, companyId, 'one');
    expect(await isHeld(reporting, companyId, 'one')).toBe(true);
    expect(await isHeld(reporting, companyId, 'other')).toBe(false);
    expect(await isHeld(reporting, companyId)).toBe(true);
  });
  await reporting.transaction(async (tx) => {
    await lockCompany(tx, companyId);
    expect(await isHeld(reporting, companyId, 'one')).toBe(true);
  });
});
