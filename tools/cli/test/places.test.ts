// Which cells learn from a move where the company lives. With real cells: test/moving/move.test.ts.
import { randomUUID } from 'node:crypto';
import type { Cell } from '../src/moving/cells.ts';
import { announce, holding, livesThere, problemsOfNames, staysHere } from '../src/moving/places.ts';

const company = randomUUID();

/** A cell that has the company's rows and believes that the company lives there. */
function cellOf(name: string | null, notified: unknown[] = []) {
  const calls = {
    describeCell: async () => ({ cell: name, version: '1.4.0', companies: [company], elsewhere: [], slots: [], moving: [] }),
    switchCompany: async ({ to }: { to?: string }) => void notified.push([name, to]),
  };
  return { notified, cell: { calls: async () => (name === null ? undefined : { name, calls }) } as unknown as Cell };
}

test.each([
  ['home', 'west', 1],
  ['home', null, 0],
  [null, 'west', 0],
  [null, null, 0],
])('cells called %s and %s are notified only if both have a name', async (from, to, times) => {
  const hold = async (moving: Parameters<typeof holding>[0]): Promise<void> => (await holding(moving))();
  const both = [(moving: Parameters<typeof holding>[0]) => livesThere(moving, true), (moving: Parameters<typeof holding>[0]) => livesThere(moving, false)];
  for (const step of [hold, ...both, staysHere]) {
    const [source, target] = [cellOf(from), cellOf(to)];
    await step({ from: source.cell, to: target.cell, id: company });
    expect([source.notified.length, target.notified.length]).toEqual([times, times]);
  }
  const [source, target] = [cellOf(from), cellOf(to)];
  await announce({ from: source.cell, to: target.cell, id: company });
  expect([source.notified.length, target.notified.length]).toEqual([0, times]);
  const problems = (from === null) === (to === null) ? [] : [expect.stringContaining(`${from === null ? 'this one' : 'the other one'} has no name`)];
  expect(await problemsOfNames({ from: source.cell, to: target.cell })).toEqual(problems);
});

test('the new cell is switched before the freeze, and serves the company first', async () => {
  const switched: unknown[] = [];
  const moving = { from: cellOf('home', switched).cell, to: cellOf('west', switched).cell, id: company };
  const hold = await holding(moving);
  expect(switched.splice(0)).toEqual([['west', null]]);
  await hold();
  await livesThere(moving, true);
  expect(switched).toEqual([
    ['home', null],
    ['west', 'west'],
    ['home', 'west'],
  ]);
});

test('cells of one name are refused', async () => {
  const { cell } = cellOf('home');
  expect(await problemsOfNames({ from: cell, to: cell })).toEqual([expect.stringContaining('Both cells are called home')]);
});
