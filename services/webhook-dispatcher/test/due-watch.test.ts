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
    due: (restarted) => void noticed.push(restarted),
    log: silentLog,
  });
  await watch.start();
  await ended.promise;
  await watch.stop();
  // The last one wakes the worker because the call has ended.
  expect(noticed).toEqual([[], ['a', 'b'], []]);
});
