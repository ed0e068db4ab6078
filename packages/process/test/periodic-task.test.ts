import { currentRequest, onBehalfOf } from '@truckroll/telemetry';
import { PeriodicTask } from '../src/index.ts';

afterEach(() => jest.useRealTimers());

/** A task whose rounds end as the test says. */
function steered(everyMs = 0, againMs = everyMs) {
  const rounds: { readonly signal: AbortSignal; end(error?: Error): void }[] = [];
  let began = (): void => undefined;
  const failures: [unknown, number][] = [];
  const task = new PeriodicTask(
    everyMs,
    (signal) =>
      new Promise((resolve, reject) => {
        rounds.push({ signal, end: (error) => (error === undefined ? resolve() : reject(error)) });
        began();
      }),
    (error, count) => failures.push([error, count]),
    againMs,
  );
  const next = (): Promise<void> => new Promise((resolve) => (began = resolve));
  return { task, rounds, failures, next };
}

test('runs on behalf of no request, also if a request demanded the round', async () => {
  const seen = Promise.withResolvers<unknown>();
  const task = new PeriodicTask(0, async () => seen.resolve(currentRequest()));
  onBehalfOf({ requestId: '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11', traceparent: undefined }, () => task.start());
  expect(await seen.promise).toBeUndefined();
  await task.stop();
});

test('runs again after a failure, and counts failures in a row', async () => {
  const { task, rounds, failures, next } = steered();
  const first = next();
  task.start();
  await first;
  const down = new Error('down');
  for (const error of [down, down, undefined, down]) {
    const following = next();
    rounds.at(-1)!.end(error);
    await following;
  }
  expect(failures).toEqual([
    [down, 1],
    [down, 2],
    [down, 1],
  ]);
  const stopped = task.stop();
  rounds.at(-1)!.end();
  await stopped;
});

test('tries again sooner after a failure, if it should', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { task, rounds } = steered(10_000, 1000);
  const after = async (ms: number): Promise<number> => {
    await jest.advanceTimersByTimeAsync(ms);
    return rounds.length;
  };
  task.start();
  expect(await after(0)).toBe(1);
  rounds[0]!.end(new Error('down'));
  expect([await after(999), await after(1)]).toEqual([1, 2]);
  rounds[1]!.end();
  expect([await after(9999), await after(1)]).toEqual([2, 3]);
  rounds[2]!.end();
  await task.stop();
});

test('begins no round while another one runs, but one at once after it if it was requested', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { task, rounds } = steered(1000);
  task.start();
  await jest.advanceTimersByTimeAsync(0);
  task.now();
  task.now();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(rounds).toHaveLength(1);
  rounds[0]!.end();
  await jest.advanceTimersByTimeAsync(0);
  expect(rounds).toHaveLength(2);
  rounds[1]!.end();
  await jest.advanceTimersByTimeAsync(999);
  expect(rounds).toHaveLength(2);
  task.now();
  await jest.advanceTimersByTimeAsync(0);
  expect(rounds).toHaveLength(3);
  rounds[2]!.end();
  await task.stop();
});

test('aborts the round that runs when it is stopped, waits for it, and does not report its failure', async () => {
  const { task, rounds, failures, next } = steered();
  const first = next();
  task.start();
  await first;
  let over = false;
  const stopped = task.stop().then(() => (over = true));
  expect(rounds[0]!.signal.aborted).toBe(true);
  await new Promise(setImmediate);
  expect(over).toBe(false);
  rounds[0]!.end(rounds[0]!.signal.reason);
  await stopped;
  expect([failures, rounds.length]).toEqual([[], 1]);
});

test('begins no round that is due after it was stopped, and one at once when it is started again', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { task, rounds } = steered(1000);
  expect(task.stopped).toBe(true);
  task.now();
  await jest.advanceTimersByTimeAsync(5000);
  task.start();
  expect(task.stopped).toBe(false);
  await task.stop();
  await jest.advanceTimersByTimeAsync(5000);
  expect([rounds.length, task.stopped]).toEqual([0, true]);
  const part = task.asPart('looks');
  await part.start();
  await jest.advanceTimersByTimeAsync(0);
  expect([rounds.length, part.name]).toEqual([1, 'looks']);
  expect(rounds[0]!.signal.aborted).toBe(false);
  rounds[0]!.end();
  await jest.advanceTimersByTimeAsync(500);
  await part.stop();
  await jest.advanceTimersByTimeAsync(5000);
  expect(rounds).toHaveLength(1);
});
