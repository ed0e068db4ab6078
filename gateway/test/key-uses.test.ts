import type { KeyUse } from '@truckroll/contract/gen/integrations/v1/identity';
import { silentLog } from '@truckroll/telemetry';
import { KeyUses } from '../src/auth/key-uses.ts';

afterEach(() => void jest.useRealTimers());

test('reports every key once, with its last use, each 20 seconds and at the stop', async () => {
  jest.useFakeTimers({ now: 1_000_000 });
  const sent: KeyUse[][] = [];
  const uses = new KeyUses(async (batch) => sent.push(batch), silentLog);
  uses.start();
  uses.note('acme', 'k-1');
  await jest.advanceTimersByTimeAsync(5000);
  uses.note('acme', 'k-2');
  uses.note('acme', 'k-1');
  await jest.advanceTimersByTimeAsync(14_999);
  expect(sent).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  const at = { company_id: 'acme', used_at: 1_005_000_000 };
  expect(sent).toEqual([
    [
      { ...at, key_id: 'k-1' },
      { ...at, key_id: 'k-2' },
    ],
  ]);
  uses.note('other', 'k-3');
  await uses.stop();
  expect(sent[1]).toMatchObject([{ company_id: 'other', key_id: 'k-3' }]);
  uses.note('other', 'k-3');
  await jest.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(2);
});

test('reports at most a thousand keys in a call, and keeps only those of a call that failed', async () => {
  const sent: number[] = [];
  const warned: object[] = [];
  const uses = new KeyUses(
    async (batch) => {
      sent.push(batch.length);
      if (sent.length === 1) throw new Error('integrations is away');
    },
    { ...silentLog, warn: (fields) => warned.push(fields) },
  );
  for (let key = 0; key < 1001; key += 1) uses.note('acme', `k-${key}`);
  await uses.flush();
  await uses.flush();
  await uses.flush();
  expect([sent, warned]).toEqual([[1000, 1, 1000], [{ error: expect.any(Error) as Error, keys: 1000 }]]);
});

test('a use that could not be sent does not replace a later use of the same key', async () => {
  const sent: KeyUse[] = [];
  const uses: KeyUses = new KeyUses(async (batch) => {
    sent.push(...batch);
    if (sent.length > 1) return;
    uses.note('company', 'key');
    throw new Error('integrations is away');
  }, silentLog);
  uses.note('company', 'key');
  await uses.flush();
  await uses.flush();
  expect(sent).toHaveLength(2);
  expect(sent[1]).not.toBe(sent[0]);
});

test('a use that could not be sent is sent with the next ones', async () => {
  const sent: string[][] = [];
  const uses = new KeyUses(async (batch) => {
    sent.push(batch.map(({ key_id }) => key_id));
    if (sent.length === 1) throw new Error('integrations is away');
  }, silentLog);
  uses.note('company', 'one');
  await uses.flush();
  uses.note('company', 'other');
  await uses.flush();
  expect(sent).toEqual([['one'], ['other', 'one']].map((ids) => expect.arrayContaining(ids)));
});
