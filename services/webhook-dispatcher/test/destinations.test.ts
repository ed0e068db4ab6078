import type { ServerResponse } from 'node:http';
import { Destinations, NoConnection } from '../src/send/destinations.ts';
import { closeOpened, receiver, sender } from './support/opened.ts';

afterEach(closeOpened);

test('limits connections to one address across endpoints, and leaves some for another company', async () => {
  const held: ServerResponse[] = [];
  let holds = true;
  const there = await receiver((response) => void (holds ? held.push(response) : response.end()));
  const { send } = sender({ allowed: [there.target], mostPerAddress: 4 });
  const greedy = Array.from({ length: 20 }, (_, i) => send(there.url, `greedy ${i}`, 'greedy'));
  await there.until(2);
  const other = send(there.url, 'other', 'other');
  await there.until(3);
  expect(there.received).toHaveLength(3);
  holds = false;
  for (const response of held) response.end();
  const results = await Promise.all([...greedy, other]);
  expect(results.map(({ status }) => status)).toEqual(Array(21).fill(200));
  expect(there.mostOpen).toBeLessThanOrEqual(4);
});

test('does not count the wait for a connection against the receiver', async () => {
  let requests = 0;
  const there = await receiver((response) => {
    requests += 1;
    if (requests > 1) response.end();
  });
  const { send } = sender({ allowed: [there.target], mostPerAddress: 1, timeoutMs: 200 });
  const [hanging, waiting] = [send(there.url, 'one'), send(there.url, 'two')];
  expect((await hanging).failure?.kind).toBe('ATTEMPT_ERROR_TIMEOUT');
  expect(await waiting).toMatchObject({ status: 200 });
});

test('gives up an exchange that found no connection within 5 s', async () => {
  jest.useFakeTimers();
  try {
    const destinations = new Destinations(1, () => undefined);
    const leave = await destinations.enter('192.0.2.1', 'one');
    let refused: unknown;
    destinations.enter('192.0.2.1', 'one').catch((error: unknown) => (refused = error));
    await jest.advanceTimersByTimeAsync(4999);
    expect(refused).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(refused).toBeInstanceOf(NoConnection);
    // The exchange left the queue, so the next one gets the connection.
    leave();
    await destinations.enter('192.0.2.1', 'one');
  } finally {
    jest.useRealTimers();
  }
});

test('closes an idle connection of the company that needs one', async () => {
  const asked: string[][] = [];
  const destinations = new Destinations(2, (...of) => void asked.push(of));
  const leave = await destinations.enter('192.0.2.1', 'one');
  expect([asked, destinations.isCrowded('192.0.2.1')]).toEqual([[], false]);
  const next = destinations.enter('192.0.2.1', 'one');
  expect([asked, destinations.isCrowded('192.0.2.1')]).toEqual([[['192.0.2.1', 'one']], true]);
  leave();
  await next;
  await destinations.enter('192.0.2.1', 'other');
  expect(destinations.isCrowded('192.0.2.1')).toBe(true);
});
