import { silentLog } from '@truckroll/service-kit';
import { createSender, type Attempt, type Lease } from '../src/index.ts';

/** ES modules find `jest` here; it is a global only in scripts. */
const { spyOn } = (import.meta as unknown as { jest: typeof jest }).jest;
afterEach(() => void spyOn(Math, 'random').mockRestore());

/** Sends one message to a provider that always has the same outcome. Resolves to the pauses before its retries, in seconds, and its result. */
async function send(outcome: Attempt['outcome'], timeoutMs?: number) {
  const pauses: number[] = [];
  const leases: number[] = [];
  const ended = Promise.withResolvers<string>();
  let due: Lease | undefined = { id: 'm', attempts: 1 };
  const sender = createSender({
    name: 'messages',
    log: silentLog,
    timeoutMs,
    postbox: {
      hasWork: async () => due !== undefined,
      forgetEnded: async () => 0,
      giveUp: async () => 0,
      async take(_, leaseMs) {
        leases.push(leaseMs);
        const taken = due === undefined ? [] : [due];
        due = undefined;
        return taken;
      },
      send: async () => ({ outcome, detail: '' }),
      count: () => undefined,
      finish: async (_, result) => ended.resolve(result),
      async postpone({ id, attempts }, delayMs) {
        pauses.push(delayMs / 1000);
        due = { id, attempts: attempts + 1 };
      },
    },
  });
  await sender.start();
  const result = await ended.promise;
  await sender.stop();
  return { result, pauses, leases: [...new Set(leases)] };
}

const PAUSES = [30, 60, 120, 240, 480, 900, 900, 900];

test.each([
  ['30 s and then doubling up to 15 minutes', 0.5, 1],
  ['a fifth less', 0, 0.8],
  ['a fifth more', 1, 1.2],
])('retries for about an hour, with pauses of %s, then marks a message FAILED', async (_, random, factor) => {
  spyOn(Math, 'random').mockReturnValue(random);
  const { result, pauses } = await send('UNTAKEN');
  expect(result).toBe('FAILED');
  expect(pauses.map(Math.round)).toEqual(PAUSES.map((seconds) => Math.round(seconds * factor)));
});

test('sends once when the provider has accepted, rejected or may have accepted a message', async () => {
  for (const outcome of ['SENT', 'FAILED', 'UNKNOWN'] as const) expect(await send(outcome)).toMatchObject({ result: outcome, pauses: [] });
});

test('leases a message until 30 seconds after the time limit of an attempt', async () => {
  expect((await send('SENT')).leases).toEqual([45_000]);
  expect((await send('SENT', 1500)).leases).toEqual([31_500]);
});
