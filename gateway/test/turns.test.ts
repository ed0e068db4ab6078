import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../src/http/turns.ts';

const PAGE_BYTES = 42_000;

/** As long as an answer takes to write, and longer than answers may in one turn. */
function write(): void {
  for (const until = performance.now() + 1; performance.now() < until; );
}

test('the first answer is written at once, those that came with it in turns of the event loop, in the order in which they came', async () => {
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
  // What is read from sockets is handled between them, as this is.
  setImmediate(() => seen.push('something else'));
  await others;
  await nextTurn();
  expect(seen).toEqual(['second', 'something else', 'third']);
});

test('an answer that comes when nothing waits is written at once again', async () => {
  const turns = new Turns();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
  write();
  await turns.enter(PAGE_BYTES);
  await nextTurn();
  await nextTurn();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
});

test('a short answer waits for no other', async () => {
  const turns = new Turns();
  expect(turns.enter(PAGE_BYTES)).toBeUndefined();
  write();
  const next = turns.enter(PAGE_BYTES);
  expect(next).toBeDefined();
  expect(turns.enter(1000)).toBeUndefined();
  await next;
});
