import { Slots } from '../src/send/slots.ts';

/** Slots of which each company holds the given number. */
function slots(size: number, taken: Record<string, number>): Slots {
  const all = new Slots(size);
  for (const [company, count] of Object.entries(taken)) for (let i = 0; i < count; i += 1) all.take(company);
  return all;
}

test.each([
  [8, {}, 'a', 4],
  [9, {}, 'a', 5],
  [8, { a: 1 }, 'a', 3],
  [8, { a: 3 }, 'a', 1],
  [8, { a: 4 }, 'a', 0],
  [8, { a: 4 }, 'b', 2],
  [8, { a: 4, b: 2 }, 'b', 0],
  [8, { a: 4, b: 2 }, 'c', 1],
  [8, { a: 4, b: 2, c: 1 }, 'd', 1],
  [8, { a: 8 }, 'a', 0],
  [8, { a: 8 }, 'b', 0],
])('of %i slots, of which companies hold %j, lets %s take %i', (size, taken, company, room) => {
  expect(slots(size, taken).freeFor(company)).toBe(room);
});

test('counts slots that were taken and left, in total and by company', () => {
  const all = slots(8, { a: 2, b: 1 });
  expect([all.size, all.total, all.free, [...all.companies]]).toEqual([8, 3, 5, ['a', 'b']]);
  all.leave('a');
  expect([all.total, all.free, [...all.companies], all.freeFor('a')]).toEqual([2, 6, ['a', 'b'], 3]);
  all.leave('a');
  all.leave('b');
  expect([all.total, all.free, [...all.companies], all.freeFor('a')]).toEqual([0, 8, [], 4]);
});
