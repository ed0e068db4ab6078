import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '@truckroll/telemetry';
import { DueWatch } from '../src/queue/due-watch.ts';

/** ES modules find `jest` here; it is a global only in scripts. */
const clock = (import.meta as unknown as { jest: typeof jest }).jest;

test('passes on each notice, with the endpoints whose circuits to close', async () => {
  const noticed: (readonly string[])[] = [];
  const ended = Promise.withResolvers<void>();
  const watch = new DueWatch({
    workerId: 'test',
    watchDue: async function* () {
      yield { restarted_endpoint_ids: [] };
      yield { restarted_endpoint_ids: ['a', 'b'] };
      ended.resolve();
    },
    due: (restarted) => void noticed.push(restarted),
    log: silentLog,
  });
  await watch.start();
  await ended.promise;
  await watch.stop();
  // The last one wakes the worker because the call has ended.
  expect(noticed).toEqual([[], ['a', 'b'], []]);
});

test('is connected from the first notice of a call to its end, and calls again after a pause that grows with each failure', async () => {
  const random = Math.random;
  Math.random = () => 0.5;
  clock.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'], now: 0 });
  try {
    const calls: { at: number; workerId: string; notice: PromiseWithResolvers<void>; end: PromiseWithResolvers<void> }[] = [];
    const noticed: (readonly string[])[] = [];
    const watch = new DueWatch({
      workerId: 'own',
      watchDue: async function* ({ worker_id: workerId }, { signal }) {
        const [notice, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        calls.push({ at: Date.now(), workerId, notice, end });
        signal.addEventListener('abort', () => end.reject(signal.reason));
        await Promise.race([notice.promise, end.promise]);
        yield { restarted_endpoint_ids: ['e'] };
        await end.promise;
      },
      due: (restarted) => void noticed.push(restarted),
      log: silentLog,
    });
    const fail = async () => {
      calls.at(-1)!.end.reject(new Error('integrations is down'));
      await turn();
      return watch.connected;
    };
    await watch.start();
    expect([watch.connected, calls.map(({ workerId }) => workerId)]).toEqual([false, ['own']]);
    calls[0]!.notice.resolve();
    await turn();
    expect([watch.connected, noticed]).toEqual([true, [['e']]]);
    // Without notifications the worker must poll at once, and more often.
    expect([await fail(), noticed]).toEqual([false, [['e'], []]]);
    await clock.advanceTimersByTimeAsync(100);
    await fail();
    await clock.advanceTimersByTimeAsync(200);
    expect(calls.map(({ at }) => at)).toEqual([0, 100, 300]);
    // A notice ends the row of failures.
    calls[2]!.notice.resolve();
    await turn();
    expect([watch.connected, await fail()]).toEqual([true, false]);
    await clock.advanceTimersByTimeAsync(100);
    expect(calls.map(({ at }) => at)).toEqual([0, 100, 300, 400]);
    await watch.stop();
    expect([calls.length, watch.connected]).toEqual([4, false]);
  } finally {
    clock.useRealTimers();
    Math.random = random;
  }
});
