// What a move does after one of its databases was restored, or a cell is gone for good. The other cell is named.
import { fill } from '../leaving/fill.ts';
import { documentedSql } from '../support/documented-sql.ts';
import type { System, TestCompany } from '../support/system.ts';
import { Died, counts, environment, record, rowsOf, runMove, startTwoCells, tracesIn, type Outcome, type TwoCells } from './two-cells.ts';

const MINUTES = 60_000;

let cells: TwoCells;
let here: System;
let there: System;
let moving: TestCompany;

/** The command, which dies when it says something that begins with `dies`. */
const move = (args: readonly string[], dies?: string): Promise<Outcome> =>
  runMove([moving.id, '--to', 'west', ...args], { ...environment(here, ''), ...environment(there, 'WEST_') }, { ...(dies && { dies }) });

async function expectRefusal(args: readonly string[], says: string): Promise<void> {
  const { code, words } = await move(args);
  expect([code, words.join()]).toEqual([1, expect.stringContaining(says)]);
}

test('takes a cell by its name only, and not the one in which the company is', async () => {
  const all = { ...environment(here, ''), ...environment(here, 'HOME_'), ...environment(there, 'WEST_'), ...environment(there, 'NORTH_WEST_') };
  const says = async (...args: string[]): Promise<unknown[]> => {
    const { code, words } = await runMove([moving.id, ...args], all);
    return [code, words.join()];
  };
  expect(await says('--to', 'north-west')).toEqual([1, expect.stringMatching(/There is no cell north-west at .*, but west/)]);
  expect(await says('--to', 'home')).toEqual([1, expect.stringContaining('This cell is home itself: give --to another one')]);
  expect(await says('--to', 'east')).toEqual([2, expect.stringMatching(/Set EAST_.*EAST_CALL_CREDENTIAL: .* else with its name/)]);
  expect(await says()).toEqual([2, expect.stringMatching(/Set TO_.*Without --to they begin with TO_/)]);
  expect(await tracesIn(here, there)).toEqual([]);
});

/** As in a database of before. */
const arrived = (step: string) => rowsOf(there, `update integrations.moves set step = '${step}'`);

beforeAll(async () => {
  cells = await startTwoCells('move-restores-runs');
  ({ here, there } = cells);
  moving = await here.createCompany();
  await fill(here, cells.receiver, moving, 'Quillfeather', 3);
}, 3 * MINUTES);
afterAll(() => cells?.stop(), MINUTES);

test(
  'does not close the company before every service of the other cell answers',
  async () => {
    await expect(move([], 'following')).rejects.toThrow(Died);
    await there.stopService('billing');
    await expect(move([], 'billing of the other cell waits')).rejects.toThrow(Died);
    expect(await rowsOf(here, 'select from integrations.frozen_companies')).toEqual([]);
    await there.startService('billing');
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
  },
  2 * MINUTES,
);

test(
  'goes on here if the other cell is gone after it took the company over, and removes what it finds there when that is back',
  async () => {
    await expect(move([], 'clearing')).rejects.toThrow(Died);
    await record(there, moving);
    await expectRefusal(['--abort', '--without-other'], 'add --lose-changes');
    expect(await move(['--abort', '--without-other', '--lose-changes'])).toMatchObject({ code: 0 });
    await record(here, moving);
    for (const args of [[], ['--check'], ['--abort'], ['--confirm']]) await expectRefusal(args, 'of which this cell knows nothing');
    await arrived('complete');
    // One that is frozen here for another reason stays so.
    await rowsOf(here, 'insert into billing.frozen_companies (company_id) values ($1)', moving.id);
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect(await rowsOf(here, 'delete from billing.frozen_companies returning company_id')).toEqual([{ company_id: moving.id }]);
    await record(here, moving);
    expect([await tracesIn(here, there), await counts(there, moving)]).toEqual([[], {}]);
  },
  2 * MINUTES,
);

test(
  'deletes here only what the other cell has, and what cannot be changed here',
  async () => {
    expect(await move([])).toMatchObject({ code: 0 });
    // `truckroll restored` has ended a part of the freeze.
    await rowsOf(here, 'delete from scheduling.frozen_companies');
    await expectRefusal(['--confirm'], 'can be changed here, as after a restore');
    expect(await move([])).toMatchObject({ code: 0 });
    await expect(record(here, moving)).rejects.toMatchObject({ status: 503 });
    await arrived('complete');
    await expectRefusal([], 'does not have all of the company');
    await arrived('open');
    await expect(move(['--confirm'], 'deleting')).rejects.toThrow(Died);
    await arrived('complete');
    const left = await counts(here, moving);
    await expectRefusal(['--confirm'], 'here a part of it is deleted');
    await expectRefusal(['--abort'], 'go on with --confirm');
    expect(await counts(here, moving)).toEqual(left);
    await arrived('open');
  },
  2 * MINUTES,
);

test(
  'removes what a cell has kept after another one was settled, and ends if the command died at its end',
  async () => {
    const identity = `select system_identifier || '/' || current_database() as identity from pg_control_system()`;
    const [[home], [west]] = [await rowsOf(here, identity), await rowsOf(there, identity)];
    const [inKeeping, inServing] = documentedSql('move-a-company', '### What a cell has kept')
      .replaceAll('<id>', moving.id)
      .split('-- in the cell that serves it');
    for (const system of [here, there]) await rowsOf(system, 'delete from integrations.moves');
    await rowsOf(here, inKeeping!.replace('<identity of the cell that serves it>', west!['identity']));
    await rowsOf(there, inServing!.replace('<identity of the cell that has kept rows>', home!['identity']));
    const { 'scheduling.accounts': accounts } = await counts(there, moving);
    expect((await runMove([moving.id, '--status'], environment(there, ''))).stdout).toContain('"arrives":true');
    expect(await move(['--confirm'])).toMatchObject({ code: 0 });
    expect([await tracesIn(here, there), await counts(here, moving)]).toEqual([[], {}]);
    expect(await counts(there, moving)).toMatchObject({ 'scheduling.accounts': accounts });
    await record(there, moving);
    await rowsOf(here, `insert into integrations.moves (company_id, arrives, other, step) values ($1, false, $2, 'deleting')`, moving.id, west!['identity']);
    expect(await move(['--confirm'])).toMatchObject({ code: 0 });
    expect(await tracesIn(here, there)).toEqual([]);
    // As by a job that was not notified of its success.
    expect(await move(['--confirm'])).toMatchObject({ code: 0, stdout: expect.stringContaining('"deleted_here":true') });
  },
  2 * MINUTES,
);
