import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '@truckroll/telemetry';
import { DueWatch } from '../src/queue/due-watch.ts';

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
    log: silentLog,
  });
  watch.start((restarted) => void noticed.push(restarted));
  await ended.promise;
  await watch.stop();
  // The last one wakes the worker because the call has ended.
  expect(noticed).toEqual([[], ['a', 'b'], []]);
});

test('is connected from the first notice of a call to its end, and calls again until it is stopped', async () => {
  type Call = { workerId: string; notice: PromiseWithResolvers<void>; end: PromiseWithResolvers<void> };
  let called = Promise.withResolvers<Call>();
  const noticed: (readonly string[])[] = [];
  const watch = new DueWatch({
    workerId: 'own',
    watchDue: async function* ({ worker_id: workerId }, { signal }) {
      const [notice, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      signal.addEventListener('abort', () => end.reject(signal.reason));
      called.resolve({ workerId, notice, end });
      await Promise.race([notice.promise, end.promise]);
      yield { restarted_endpoint_ids: ['e'] };
      await end.promise;
    },
    log: silentLog,
  });
  watch.start((restarted) => void noticed.push(restarted));
  for (let round = 0; round < 2; round += 1) {
    const call = await called.promise;
    called = Promise.withResolvers();
    expect([watch.connected, call.workerId]).toEqual([false, 'own']);
    call.notice.resolve();
    await turn();
    expect([watch.connected, noticed.splice(0)]).toEqual([true, [['e']]]);
    call.end.reject(new Error('integrations is down'));
    await turn();
    // Without notifications the worker must poll at once, and more often.
    expect([watch.connected, noticed.splice(0)]).toEqual([false, [[]]]);
  }
  const last = await called.promise;
  called = Promise.withResolvers();
  last.notice.resolve();
  await turn();
  await watch.stop();
  expect(watch.connected).toBe(false);
});
