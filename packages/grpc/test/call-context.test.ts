// When the work for a call is abandoned: at its caller's wish, or after the time that a call without a deadline has.
import { EventEmitter } from 'node:events';
import { Metadata, type Deadline } from '@grpc/grpc-js';
import { silentLog } from '@truckroll/telemetry';
import { CallCancelled, CallContext } from '../src/call-context.ts';
import { DEFAULT_DEADLINE_MS } from '../src/options.ts';

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

function started(deadline: Deadline = Infinity, cancelled = false) {
  const call = Object.assign(new EventEmitter(), { metadata: new Metadata(), cancelled, getDeadline: () => deadline });
  const context = new CallContext(call as unknown as ConstructorParameters<typeof CallContext>[0], '/test', silentLog);
  const late: number[] = [];
  context.limitDuration(() => late.push(Date.now()));
  return { call, context, late };
}

test('ends a call without a deadline after the usual time', () => {
  const { context, late } = started();
  const { signal } = context;
  jest.advanceTimersByTime(DEFAULT_DEADLINE_MS - 1);
  expect([late, signal.aborted]).toEqual([[], false]);
  jest.advanceTimersByTime(1);
  expect([late, signal.aborted]).toEqual([[DEFAULT_DEADLINE_MS], true]);
});

test('does not abandon a call that has a deadline, however late it is', () => {
  const { context, late } = started(new Date(10 * DEFAULT_DEADLINE_MS));
  const { signal } = context;
  jest.advanceTimersByTime(5 * DEFAULT_DEADLINE_MS);
  expect([late, signal.aborted]).toEqual([[], false]);
});

test('a call that has ended is never late', () => {
  const { context, late } = started();
  const { signal } = context;
  context.end();
  jest.advanceTimersByTime(DEFAULT_DEADLINE_MS);
  expect([late, signal.aborted]).toEqual([[], false]);
});

test.each([
  ['a caller that leaves aborts the work', false, true],
  ['the same event after the answer, which gRPC sends too, aborts nothing', true, false],
])('%s', (_, ended, aborted) => {
  const { call, context } = started();
  const { signal } = context;
  if (ended) context.end();
  call.emit('cancelled');
  expect([signal.aborted, signal.reason instanceof CallCancelled]).toEqual([aborted, aborted]);
});

test('the work of a call whose caller has left before it began is aborted', () => {
  expect(started(Infinity, true).context.signal.aborted).toBe(true);
});
