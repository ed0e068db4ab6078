import { Notifier } from '../src/index.ts';

const HOUR_MS = 3_600_000;

test('a wait ends at a notification during it or before it', async () => {
  const notifier = new Notifier();
  const waiting = notifier.wait(HOUR_MS);
  notifier.notify();
  await waiting;
  notifier.notify();
  notifier.notify();
  await notifier.wait(HOUR_MS);
});

test('a notification is kept for one wait only', async () => {
  const notifier = new Notifier();
  notifier.notify();
  await notifier.wait(HOUR_MS);
  let over = false;
  const next = notifier.wait(HOUR_MS).then(() => (over = true));
  await new Promise(setImmediate);
  expect(over).toBe(false);
  notifier.notify();
  await next;
});

test('a wait ends when its time is over, and when it is aborted before or during it', async () => {
  const notifier = new Notifier();
  await notifier.wait(0);
  await notifier.wait(1);
  const abort = new AbortController();
  const waiting = notifier.wait(HOUR_MS, abort.signal);
  abort.abort();
  await waiting;
  await notifier.wait(HOUR_MS, abort.signal);
});
