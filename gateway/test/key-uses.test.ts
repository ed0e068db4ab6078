import type { KeyUse } from '@truckroll/contract/gen/integrations/v1/identity';
import { silentLog } from '@truckroll/telemetry';
import { KeyUses } from '../src/auth/key-uses.ts';

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
