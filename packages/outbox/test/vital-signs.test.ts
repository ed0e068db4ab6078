import { EventEmitter } from 'node:events';
import type { Consumer } from 'kafkajs';
import { watch } from '../src/driver/vital-signs.ts';

const { advanceTimersByTime, getTimerCount, useFakeTimers, useRealTimers } = jest;
beforeAll(() => void useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterAll(() => void useRealTimers());

const EVENTS = { CRASH: 'crash', FETCH: 'fetch', HEARTBEAT: 'heartbeat', GROUP_JOIN: 'join' };

function watched() {
  const consumer = Object.assign(new EventEmitter(), { events: EVENTS });
  const errors: string[] = [];
  const watching = watch(consumer as unknown as Consumer);
  void watching.failed.then(({ message }) => errors.push(message));
  const after = async (seconds: number): Promise<readonly string[]> => {
    advanceTimersByTime(seconds * 1000);
    await new Promise((resolve) => setImmediate(resolve));
    return errors;
  };
  return { consumer, after, ...watching };
}

test('reports a consumer that is silent for a minute after its last sign of life', async () => {
  const { consumer, after } = watched();
  for (const event of ['fetch', 'heartbeat', 'join']) {
    expect(await after(59)).toEqual([]);
    consumer.emit(event);
  }
  expect(await after(59)).toEqual([]);
  expect(await after(2)).toEqual(['the consumer has not fetched or sent a heartbeat for a minute']);
});

test('reports the error with which kafkajs gives up', async () => {
  const { consumer, after, stop } = watched();
  consumer.emit('crash', { payload: { error: new Error('no broker') } });
  expect(await after(0)).toEqual(['no broker']);
  stop();
});

test('leaves no timer when it is stopped', () => {
  watched().stop();
  expect(getTimerCount()).toBe(0);
});
