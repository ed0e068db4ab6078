// Two cells behind one gateway (docs/adr/0029): two databases and two sets of services. Who may call is copied by SQL, as a move would.
import { addressVariable, owners } from '@truckroll/contract';
import { KeyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import { beginSwitch, endSwitch, type CellCalls } from '../../tools/cli/src/cells/switch.ts';
import { truckroll } from '../../tools/cli/test/system.ts';
import { operatorsCommand } from '../leaving/fill.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';

const MINUTES = 60_000;

let home: System;
let west: System;
let cells: string;
/** Stays in home, stays in west, and goes from home to west. */
let stays: TestCompany;
let western: TestCompany;
let moves: TestCompany;

const addressesOf = (system: System) => Object.fromEntries(owners.map((owner) => [addressVariable(owner), system.gatewayEnvironment[addressVariable(owner)]!]));
const callsOf = (name: string, system: System): CellCalls => ({ name, calls: system.channel('integrations').client(CellAdminServiceService) });
const commandWith = (env: Record<string, string>, ...args: string[]) =>
  truckroll(['--json', ...args], { ...addressesOf(home), CELL: 'home', CELLS: cells, CALL_CREDENTIAL: testCaller('operator').text, ...env }, '/tmp');
const command = (...args: string[]) => commandWith({}, ...args);
/** Through the one gateway. */
const names = async (company: TestCompany) => {
  const { status, headers, body } = await home.get(company, '/v1/accounts');
  return { status, retryAfter: headers.get('retry-after'), names: body.data?.map(({ name }: { name: string }) => name) };
};
const status = async (company: TestCompany): Promise<number> => (await home.get(company, '/v1/accounts')).status;

/** The services that refuse to change the company. */
async function frozenIn(system: System): Promise<string[]> {
  const found: string[] = [];
  for (const owner of owners) {
    const { rowCount } = await system.database.query({ text: `select from ${owner}.frozen_companies where closed_at is not null` });
    if (rowCount > 0) found.push(owner);
  }
  return found;
}

async function createKey(company: TestCompany): Promise<{ status: number; id: string }> {
  const headers = { authorization: `Bearer ${home.userToken(company)}`, 'content-type': 'application/json' };
  const response = await fetch(`${home.baseUrl}/api/v1/integrations/api-keys`, { method: 'POST', headers, body: JSON.stringify({ name: 'later' }) });
  return { status: response.status, id: ((await response.json()) as { data?: { id: string } }).data?.id ?? '' };
}

const keyIn = async (system: System, id: string): Promise<boolean> =>
  (await system.database.query({ text: 'select from integrations.api_keys where id = $1', values: [id] })).rowCount === 1;

/** Copies the company's callers from home to west, where it gets another record. */
async function copy(company: TestCompany): Promise<void> {
  for (const [name, key] of Object.entries({ companies: 'id', users: 'company_id', api_keys: 'company_id' })) {
    const table = `integrations.${name}`;
    const { rows } = await home.database.query<{ rows: string }>({
      text: `select json_agg(t)::text as rows from ${table} t where ${key} = $1`,
      values: [company.id],
    });
    await west.database.transaction(async (tx) => {
      await tx.query({ text: 'set local session_replication_role = replica' });
      await tx.query({ text: `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, values: [rows[0]!.rows] });
    });
  }
  await west.importRecords(company, 'accounts', [line.account({ name: 'in west' })]);
}

beforeAll(async () => {
  west = await startSystem({ cell: 'west' });
  cells = owners.map((owner) => `west/${owner}=${west.gatewayEnvironment[addressVariable(owner)]}`).join();
  home = await startSystem({ cell: 'home', gatewaySettings: { CELL: 'home', CELLS: cells } });
  [stays, western, moves] = [await home.createCompany(), await west.createCompany(), await home.createCompany()];
  await home.importRecords(stays, 'accounts', [line.account({ name: 'of home' })]);
  await west.importRecords(western, 'accounts', [line.account({ name: 'of west' })]);
  await home.importRecords(moves, 'accounts', [line.account({ name: 'moves' })]);
}, 2 * MINUTES);
afterAll(async () => {
  await home?.stop();
  await west?.stop();
}, MINUTES);

test('keys and tokens of both cells are served at one address, and what they change is stored in their own', async () => {
  expect([await names(stays), await names(western)]).toMatchObject([{ names: ['of home'] }, { names: ['of west'] }]);
  for (const [company, own, other] of [
    [stays, home, west],
    [western, west, home],
  ] as const) {
    const { status: made, id } = await createKey(company);
    expect([made, await keyIn(own, id), await keyIn(other, id)]).toEqual([201, true, false]);
    // The history of its key is in its cell too.
    await until(
      'the history of requests',
      async () => (await own.database.query({ text: 'select from integrations.request_log where company_id = $1', values: [company.id] })).rowCount > 0,
    );
  }
  expect(await status({ ...stays, apiKey: `${stays.apiKey.slice(0, -1)}x` })).toBe(401);
});

test('`truckroll cells` names the cells, and companies that two cells serve or none', async () => {
  expect(JSON.parse((await command('cells')).stdout)).toMatchObject({
    cells: [
      { cell: 'home', companies: 2, switching: 0, away: [] },
      { cell: 'west', companies: 1, away: [] },
    ],
    faults: [],
  });
  await copy(moves);
  expect(JSON.parse((await command('cells')).stdout).faults).toEqual([`The company ${moves.id} is served by home and west.`]);
  const { code, stdout } = await command('cells', 'settle', moves.id, '--in', 'home');
  expect([code, JSON.parse(stdout)]).toEqual([0, { company_id: moves.id, cell: 'home', frozen_in: ['west'] }]);
  // What is left there is not changed, and sends nothing.
  expect([await frozenIn(west), await frozenIn(home)]).toEqual([[...owners], []]);
  expect(await operatorsCommand(west, ['company', 'unfreeze', moves.id])).toMatchObject({ code: 0 });
  expect(await command('cells', 'settle', stays.id, '--in', 'west')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not know') });
  expect(JSON.parse((await command('cells')).stdout).faults).toEqual([]);
  expect(await names(moves)).toMatchObject({ names: ['moves'] });
});

test('a cell that knows of a company without having its rows does not become its cell, nor hinder the others', async () => {
  await west.database.query({ text: `insert into integrations.company_places values ($1, 'home')`, values: [stays.id] });
  expect(await command('cells', 'settle', stays.id, '--in', 'west')).toMatchObject({ code: 1, stderr: expect.stringContaining('it has no rows of it') });
  expect(await command('cells', 'settle', stays.id, '--in', 'home')).toMatchObject({ code: 0, stdout: expect.stringContaining('"frozen_in":[]') });
  expect(await names(stays)).toMatchObject({ names: ['of home'] });
  await west.database.query({ text: 'delete from integrations.company_places where company_id = $1', values: [stays.id] });
});

test('no company is settled while it is being moved', async () => {
  await west.database.query({
    text: `insert into integrations.moves (company_id, arrives, other, step) values ($1, true, 'home', 'arriving')`,
    values: [stays.id],
  });
  expect(await command('cells', 'settle', stays.id, '--in', 'home')).toMatchObject({ code: 1, stderr: expect.stringContaining('is being moved') });
  await west.database.query({ text: 'delete from integrations.moves' });
});

test.each([
  ['a name that is not its own', () => cells.replaceAll('west/', 'east/'), 'The cell east is called west by its integrations'],
  ['the name of this one', () => cells.replaceAll('west/', 'home/'), 'CELLS names home, which is this cell'],
  ['the name of another', () => cells.replaceAll('west/', 'east/').concat(',', cells), '2 cells are called west by their integrations'],
])('nothing is settled while a cell has %s', async (_, CELLS, fault) => {
  const outcome = await commandWith({ CELLS: CELLS() }, 'cells', 'settle', stays.id, '--in', 'home');
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(fault) });
});

test('after a switch the other cell answers, and before no request is refused', async () => {
  const both = [callsOf('west', west), callsOf('home', home)] as const;
  await beginSwitch(moves.id, both);
  // Under load the switch may take longer than a second: then the client comes again, as the answer says.
  const answer = until(
    'an answer',
    () => names(moves),
    ({ status }) => status !== 503,
  );
  expect(await status(stays)).toBe(200);
  await endSwitch(moves.id, both, both[0]);
  expect(await answer).toMatchObject({ status: 200, names: ['in west'] });
  // A call of an operator to the wrong cell does not change the rows that were left behind.
  await expect(home.channel('integrations').client(KeyAdminServiceService).listKeys({ company_id: moves.id })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('lives in the cell west'),
  });
  await expect(both[1].calls.switchCompany({ company_id: moves.id, from: 'home', to: null })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('lives in the cell west'),
  });
});

test('a switch that takes longer than a second has requests come again', async () => {
  const both = [callsOf('home', home), callsOf('west', west)] as const;
  await beginSwitch(moves.id, both);
  expect(await names(moves)).toMatchObject({ status: 503, retryAfter: '1' });
  await endSwitch(moves.id, both, both[0]);
  expect(await names(moves)).toMatchObject({ status: 200, names: ['moves'] });
});

test(
  'a gateway that missed the switch is refused by the old cell, asks again, and sends the write to the new one',
  async () => {
    expect(await createKey(moves)).toMatchObject({ status: 201 });
    expect(await operatorsCommand(home, ['company', 'freeze', moves.id])).toMatchObject({ code: 0 });
    expect(await createKey(moves)).toMatchObject({ status: 503 });
    await home.database.query({ text: `insert into integrations.company_places values ($1, 'west')`, values: [moves.id] });
    await west.database.query({ text: 'delete from integrations.company_places where company_id = $1', values: [moves.id] });
    // It looked the caller up for the write before, and does so once a second.
    let made = { status: 503, id: '' };
    await until('another look-up', async () => (made = await createKey(moves)).status !== 503);
    expect([made.status, await keyIn(west, made.id), await keyIn(home, made.id)]).toEqual([201, true, false]);
  },
  MINUTES,
);

test(
  'while a cell is away the other goes on, and a key of it is made, revoked and refused',
  async () => {
    await Promise.all(owners.map((owner) => home.stopService(owner)));
    expect(await names(western)).toMatchObject({ status: 200, names: ['of west'] });
    const keys = west.channel('integrations').client(KeyAdminServiceService);
    const { key, value } = await keys.createKey({ company_id: western.id, user_id: western.userId, name: 'meanwhile', limits: null });
    const meanwhile = { ...western, apiKey: value };
    expect(await status(meanwhile)).toBe(200);
    await keys.revokeKey({ id: key!.id });
    expect(await status(meanwhile)).toBe(401);
    expect(await status(stays)).toBe(503);
    expect(await command('cells')).toMatchObject({ code: 3, stdout: expect.stringContaining('"away":["integrations","scheduling","billing","reporting"]') });
  },
  MINUTES,
);
