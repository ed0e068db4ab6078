// Which cells learn from a move where the company lives. With real cells: test/moving/move.test.ts.
import { randomUUID } from 'node:crypto';
import type { Cell } from '../src/moving/cells.ts';
import { announce, hold, livesThere, staysHere } from '../src/moving/places.ts';

const company = randomUUID();

/** A cell that has the company's rows and believes that the company lives there. */
function cellOf(name: string | null) {
  const notified: unknown[] = [];
  const calls = {
    describeCell: async () => ({ cell: name, version: '1.4.0', companies: [company], elsewhere: [], slots: [], moving: [] }),
    switchCompany: async (request: unknown) => void notified.push(request),
  };
  return { notified, cell: { session: { client: () => calls } } as unknown as Cell };
}

test.each([
  ['home', 'west', 1],
  ['home', null, 0],
  [null, 'west', 0],
  [null, null, 0],
])('cells called %s and %s are notified only if both have a name', async (from, to, times) => {
  for (const step of [hold, livesThere, staysHere]) {
    const [source, target] = [cellOf(from), cellOf(to)];
    await step(source.cell, target.cell, company);
    expect([source.notified.length, target.notified.length]).toEqual([times, times]);
  }
  const [source, target] = [cellOf(from), cellOf(to)];
  await announce(source.cell, target.cell, company);
  expect([source.notified.length, target.notified.length]).toEqual([0, times]);
});
