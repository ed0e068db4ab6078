// A message that may have reached the provider is never sent again.
import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { createSender, queued, type Attempt, type Lease } from '../src/index.ts';

const { spyOn } = jest;
afterEach(() => void spyOn(Math, 'random').mockRestore());

const away = new Database({ url: 'postgres://127.0.0.1:1/none', schema: 'none' });
afterAll(() => away.close());

const ended = (outcome: Attempt['outcome']) => async (): Promise<Attempt> => ({ outcome, detail: '' });

interface Sending {
  attempts?: number;
  timeoutMs?: number;
  failures?: number;
}

/** Resolves to the result, the pauses before retries in seconds, and the leases. */
async function send(provider: () => Promise<Attempt>, { attempts = 1, timeoutMs, failures = 0 }: Sending = {}) {
  const pauses: number[] = [];
  const leases: number[] = [];
  const finished = Promise.withResolvers<string>();
  let due: Lease | undefined = { id: 'm', attempts };
  let sent = 0;
  let left = failures;
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
      async send() {
        sent += 1;
        return provider();
      },
      count: () => undefined,
      async finish(_, result) {
        if (left-- > 0) await away.query({ text: 'select 1' });
        finished.resolve(result);
      },
      async postpone(lease, delayMs) {
        pauses.push(delayMs / 1000);
        due = { id: lease.id, attempts: lease.attempts + 1 };
      },
    },
  });
  await sender.start();
  const result = await finished.promise;
  await sender.stop();
  return { result, sent, pauses, leases: [...new Set(leases)] };
}

const PAUSES = [30, 60, 120, 240, 480, 900, 900, 900];

test.each([
  ['30 s and then doubling up to 15 minutes', 0.5, 1],
  ['a fifth less', 0, 0.8],
  ['a fifth more', 1, 1.2],
])('retries for about an hour, with pauses of %s, then marks a message FAILED', async (_, random, factor) => {
  spyOn(Math, 'random').mockReturnValue(random);
  const { result, pauses } = await send(ended('UNTAKEN'));
  expect(result).toBe('FAILED');
  expect(pauses.map(Math.round)).toEqual(PAUSES.map((seconds) => Math.round(seconds * factor)));
});

test.each([
  [8, 1],
  [9, 0],
])('queues a message that the provider has not taken at attempt %i again %i times', async (attempts, retries) => {
  const { result, sent, pauses } = await send(ended('UNTAKEN'), { attempts });
  expect([result, sent, pauses.length]).toEqual(['FAILED', 1 + retries, retries]);
});

test.each(['SENT', 'FAILED', 'UNKNOWN'] as const)('an attempt that is %s is the last one', async (outcome) => {
  expect(await send(ended(outcome))).toMatchObject({ result: outcome, sent: 1, pauses: [] });
});

test('an attempt whose provider throws is UNKNOWN, because the provider may have sent the message', async () => {
  const { result, sent } = await send(() => Promise.reject(new Error('the connection broke')));
  expect({ result, sent }).toEqual({ result: 'UNKNOWN', sent: 1 });
});

test('an outcome that cannot be stored at once is stored later, and the message is not sent again', async () => {
  const { result, sent } = await send(ended('SENT'), { failures: 2 });
  expect({ result, sent }).toEqual({ result: 'SENT', sent: 1 });
});

test('leases a message until 30 seconds after the time limit of an attempt', async () => {
  expect((await send(ended('SENT'))).leases).toEqual([45_000]);
  expect((await send(ended('SENT'), { timeoutMs: 1500 })).leases).toEqual([31_500]);
});

/** Lets everything run that waits for nothing else. */
async function turns(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
}

/** A queue of messages that are sent when the test says so. */
function queue(
  count: number,
  { finish = async () => undefined, forgetEnded = async () => 0 }: { finish?: (id: string) => Promise<void>; forgetEnded?: () => Promise<number> } = {},
) {
  let rounds = 0;
  const waiting: Lease[] = Array.from({ length: count }, (_, id) => ({ id: `m${id}`, attempts: 1 }));
  const asked: number[] = [];
  const counted: string[] = [];
  const stored: string[] = [];
  const answers: (() => void)[] = [];
  const sender = createSender({
    name: 'messages',
    log: silentLog,
    postbox: {
      hasWork: async () => ((rounds += 1), waiting.length > 0),
      forgetEnded,
      giveUp: async () => 0,
      async take(most) {
        asked.push(most);
        return waiting.splice(0, most);
      },
      send: ({ id }) => new Promise((resolve) => answers.push(() => resolve({ outcome: 'SENT', detail: id }))),
      count: ({ id }, outcome) => void counted.push(`${id} ${outcome}`),
      async finish({ id }, outcome) {
        await finish(id);
        stored.push(`${id} ${outcome}`);
      },
      postpone: async () => undefined,
    },
  });
  const underWay = async (wanted: number) => {
    while (answers.length < wanted) await new Promise(setImmediate);
  };
  return { sender, asked, counted, stored, answers, underWay, rounds: () => rounds };
}

test('attempts at most eight messages at once, and counts each outcome', async () => {
  const { sender, asked, counted, answers, underWay } = queue(10);
  await sender.start();
  await underWay(8);
  queued();
  await turns();
  expect(asked).toEqual([8]);
  answers[0]!();
  await underWay(9);
  expect(asked).toEqual([8, 1]);
  for (const answer of answers) answer();
  await underWay(10);
  answers[9]!();
  await sender.stop();
  expect(counted.toSorted()).toEqual(Array.from({ length: 10 }, (_, id) => `m${id} SENT`));
});

test('deletes old messages at its start and then every hour', async () => {
  let [now, deleted] = [Date.now(), 0];
  const clock = spyOn(Date, 'now').mockImplementation(() => now);
  const { sender, rounds } = queue(0, { forgetEnded: async () => ((deleted += 1), 0) });
  const after = async (ms: number) => {
    now += ms;
    const before = rounds();
    queued();
    while (rounds() === before) await new Promise(setImmediate);
    await turns();
    return deleted;
  };
  try {
    await sender.start();
    await turns();
    expect([deleted, await after(3_599_999), await after(1)]).toEqual([1, 1, 2]);
  } finally {
    clock.mockRestore();
    await sender.stop();
  }
});

test('stops once the outcomes of all attempts under way are stored', async () => {
  const { sender, stored, answers, underWay } = queue(2, { finish: turns });
  await sender.start();
  await underWay(2);
  const stopped = sender.stop().then(() => [...stored]);
  for (const answer of answers) answer();
  expect((await stopped).toSorted()).toEqual(['m0 SENT', 'm1 SENT']);
});

test('goes on with other messages when the outcome of one cannot be stored for good', async () => {
  const tried: string[] = [];
  const finish = async (id: string) => {
    tried.push(id);
    if (id === 'm0') throw new Error('no such column');
  };
  const { sender, stored, answers, underWay } = queue(9, { finish });
  await sender.start();
  await underWay(8);
  answers[0]!();
  await underWay(9);
  for (const answer of answers) answer();
  await sender.stop();
  expect([stored.length, tried.length]).toEqual([8, 9]);
});
