// A message is sent at most once: what may have reached the provider is never tried again.
import { Database, silentLog } from '@truckroll/service-kit';
import { createSender, type Attempt, type Postbox } from '../src/index.ts';

interface Message {
  id: string;
  attempts: number;
}

/** A database that is out of reach: every statement fails with 503. */
const away = new Database({ url: 'postgres://127.0.0.1:1/none', schema: 'none' });
afterAll(() => away.close());

/** Runs a sender on a postbox with one message. Resolves to the stored outcome and to the number of times the message was sent. */
async function sending(attempts: number, send: () => Promise<Attempt>, failures = 0) {
  const stored = Promise.withResolvers<string>();
  let waiting = true;
  let sent = 0;
  let left = failures;
  const store = async (what: string): Promise<void> => {
    if (left-- > 0) await away.query({ text: 'select 1' });
    stored.resolve(what);
  };
  const postbox: Postbox<Message> = {
    hasWork: async () => waiting,
    forgetEnded: async () => 0,
    giveUp: async () => 0,
    async take() {
      waiting = false;
      return [{ id: 'one', attempts }];
    },
    async send() {
      sent += 1;
      return send();
    },
    count: () => undefined,
    finish: (_, outcome) => store(outcome),
    postpone: () => store('queued again'),
  };
  const sender = createSender({ name: 'messages', postbox, log: silentLog });
  await sender.start();
  const what = await stored.promise;
  await sender.stop();
  return { what, sent };
}

const ended = (outcome: Attempt['outcome']) => async (): Promise<Attempt> => ({ outcome, detail: '' });

test.each(['SENT', 'FAILED', 'UNKNOWN'] as const)('an attempt that is %s is the last one', async (outcome) => {
  expect(await sending(1, ended(outcome))).toEqual({ what: outcome, sent: 1 });
});

test('an attempt whose provider throws is UNKNOWN, because the provider may have sent the message', async () => {
  expect(await sending(1, () => Promise.reject(new Error('the connection broke')))).toEqual({ what: 'UNKNOWN', sent: 1 });
});

test.each([
  [1, 'queued again'],
  [8, 'queued again'],
  [9, 'FAILED'],
])('attempt %i becomes %s if the provider has not taken the message', async (attempts, what) => {
  expect(await sending(attempts, ended('UNTAKEN'))).toEqual({ what, sent: 1 });
});

test('an outcome that cannot be stored at once is stored later, and the message is not sent again', async () => {
  expect(await sending(1, ended('SENT'), 2)).toEqual({ what: 'SENT', sent: 1 });
});
