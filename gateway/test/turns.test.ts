import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../src/http/turns.ts';

const PAGE_BYTES = 42_000;

/** Takes longer than answers may within one turn. */
function write(): void {
  for (const until = performance.now() + 1; performance.now() < until; );
}

test('writes the first answer at once, and those that came with it in later turns of the event loop, in order', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const answer = async (name: string): Promise<void> => {
    await turns.enter(PAGE_BYTES);
    seen.push(name);
    write();
  };
  const first = turns.enter(PAGE_BYTES);
  expect(first).toBeUndefined();
  write();
  const others = Promise.all([answer('second'), answer('third')]);
  expect(seen).toEqual([]);
  // Data from sockets is handled between the answers, as this callback is.
  setImmediate(() => seen.push('something else'));
  await others;
  await nextTurn();
  expect(seen).toEqual(['second', 'something else', 'third']);
});

test('writes an answer at once again when nothing waits', async () => {
  const turns = new Turns();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
  write();
  await turns.enter(PAGE_BYTES);
  await nextTurn();
  await nextTurn();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
});

test('does not delay a short answer', async () => {
  const turns = new Turns();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
  write();
  const next = turns.enter(PAGE_BYTES);
  expect(next).toBeDefined();
  expect(turns.enter(1000)).toBeUndefined();
  await next;
});
