// Reads by the integrators' command line: the packed program against real services.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { COLUMNS } from '../../packages/cli/src/columns.ts';
import { KINDS } from '../../packages/cli/src/gen/catalog.ts';
import * as billing from '../../services/billing/test/records.ts';
import * as scheduling from '../../services/scheduling/test/records.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { NODES, unpack, versionOf, type Program, type Ran } from './program.ts';

const HOSTILE = 'Ortiz \u001b[31mred\u202e, =1+1';

let system: System;
let company: TestCompany;
let program: Program;
const customer = scheduling.account({ name: HOSTILE, phone: '+15125550100' });
const others = Array.from({ length: 120 }, (_, index) => scheduling.account({ name: `Customer ${String(index).padStart(3, '0')}` }));
const invoice = billing.invoice({ number: 'INV-7', status: 'OPEN', account: { id: customer['id'], name: HOSTILE } });

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  for (const [path, records] of [
    ['accounts', [customer, ...others]],
    ['invoices', [invoice]],
  ] as const)
    expect((await system.importRecords(company, path, records)).problems).toEqual([]);
  program = unpack({ TRUCKROLL_URL: system.baseUrl, TRUCKROLL_API_KEY: company.apiKey });
}, 120_000);
afterAll(async () => {
  program.remove();
  await system.stop();
});

const lines = ({ out }: Ran): string[] => out.trimEnd().split('\n');
const records = (ran: Ran): any[] => lines(ran).map((line) => JSON.parse(line));

test('knows a field for every column that it shows, and columns of every kind', () => {
  expect(Object.keys(COLUMNS).toSorted()).toEqual(Object.keys(KINDS).toSorted());
  for (const [kind, columns] of Object.entries(COLUMNS)) expect([kind, KINDS[kind]!.fields]).toEqual([kind, expect.arrayContaining([...columns])]);
});

test('runs on every Node here, 20 and 24 among them', async () => {
  expect(NODES.map((node) => Number(versionOf(node).split('.')[0]))).toEqual(expect.arrayContaining([20, 24]));
  for (const node of NODES) {
    const { code, out } = await program.run(['list', 'invoices', '--status', 'OPEN', '--fields', 'number', '--csv'], { node });
    expect([code, out]).toEqual([0, '"number"\n"INV-7"\n']);
  }
});

test('lists a kind as a table with money in dollars, and record texts that cannot control the terminal', async () => {
  const { code, out } = await program.run(['list', 'invoices']);
  const [heading, row] = lines({ code, out, err: '' });
  expect(heading).toMatch(/^id +number +status +account\.name +due_at +amounts\.total +amounts\.open_balance$/);
  expect(row).toContain(`${invoice.id}  INV-7   OPEN    Ortiz \\u001b[31mred\\u202e, =1+1`);
  expect(row).toMatch(/\d\.\d\d$/);
  const cents = await program.run(['list', 'invoices', '--amounts', 'cents']);
  expect(lines(cents)[0]).toMatch(/amounts\.open_balance_cents$/);
});

test('lists the first records and says that there are more, or all of them', async () => {
  const first = await program.run(['list', 'accounts']);
  expect([lines(first).length, first.err]).toEqual([51, 'These are the first 50. For more: --limit 200, or --all.\n']);
  const some = await program.run(['list', 'accounts', '--limit', '110', '--json']);
  expect(records(some)).toHaveLength(110);
  const all = await program.run(['list', 'accounts', '--all', '--json']);
  expect([records(all).length, all.err]).toEqual([121, '']);
  const both = await program.run(['list', 'accounts', '--all', '--limit', '5']);
  expect([both.code, both.out, both.err]).toEqual([2, '', expect.stringContaining("option '--limit <number>' cannot be used with option '--all'")]);
});

test('prints CSV that a spreadsheet does not take for a formula, and JSON with the chosen fields', async () => {
  const csv = await program.run(['list', 'accounts', '--search', 'ortiz', '--csv', '--fields', 'name', 'phone']);
  expect(lines(csv)).toEqual(['"name","phone"', `"Ortiz \\u001b[31mred\\u202e, =1+1","'+15125550100"`]);
  const json = await program.run(['list', 'accounts', '--search', 'ortiz', '--json', '--fields', 'name,billing_address.city']);
  expect(records(json)).toEqual([{ name: HOSTILE, 'billing_address.city': null }]);
});

test('shows one record, and the company, which has no id', async () => {
  const { out } = await program.run(['get', 'invoices', invoice.id]);
  expect(out).toMatch(/^number +INV-7$/m);
  expect(out).toMatch(/^amounts\.open_balance +\d+\.\d\d$/m);
  const own = await program.run(['get', 'company', '--json']);
  expect(records(own)).toEqual([expect.objectContaining({ id: company.id })]);
});

test('searches every kind at once, a telephone number too', async () => {
  expect(records(await program.run(['search', '512', '555', '0100', '--json']))).toEqual([
    { kind: 'accounts', record: expect.objectContaining({ id: customer['id'] }) },
  ]);
  expect((await program.run(['search', 'inv-7'])).out).toMatch(/^invoices +[0-9a-f-]{36} +INV-7 · OPEN/m);
  const some = await program.run(['search', 'customer', '--kind', 'accounts', 'invoices']);
  expect([lines(some).length, some.err]).toEqual([6, expect.stringContaining('There may be more accounts: give a higher --limit')]);
  const tooMany = await program.run(['search', 'customer', '--limit', '101']);
  expect([tooMany.code, tooMany.err]).toEqual([2, expect.stringContaining('Give a whole number from 1 to 100.')]);
  const nothing = await program.run(['search', '']);
  expect([nothing.code, nothing.out, nothing.err]).toEqual([1, '', expect.stringMatching(/(^|\s)<words>: /)]);
  expect(nothing.err).not.toContain('--search');
});

test('prints a report in dollars as a table and as CSV, and in cents on request', async () => {
  const table = await program.run(['report', 'receivables']);
  expect([table.code, lines(table)[0]]).toEqual([0, expect.stringMatching(/bucket +invoice_count +open_balance$/)]);
  const csv = await program.run(['report', 'receivables', '--csv', '--amounts', 'cents']);
  expect(lines(csv)[0]).toMatch(/open_balance_cents/);
  const { code, err } = await program.run(['report', 'collections', '--start-date', '2026-01-01']);
  expect([code, err]).toEqual([2, expect.stringContaining("required option '--end-date <value>' not specified")]);
});

test('suggests the kind, option, value or field that was meant', async () => {
  for (const [args, code, message] of [
    [['list', 'invoics'], 2, 'Did you mean invoices?'],
    [['list', 'invoices', '--staus', 'OPEN'], 2, 'Did you mean --status?'],
    [['list', 'invoices', '--status', 'OPENED'], 2, 'Allowed choices are DRAFT, OPEN'],
    [['list', 'invoices', '--fields', 'total_cents'], 2, 'Did you mean amounts.total_cents?'],
    [['list', 'invoices', '--due-from', 'monday'], 1, '--due-from: '],
    [['lst'], 2, 'Did you mean list?'],
  ] as const) {
    const ran = await program.run(args);
    expect([args, ran.code, ran.err]).toEqual([args, code, expect.stringContaining(message)]);
  }
});

test('says what is wrong with the address and the credential, to people and to scripts', async () => {
  for (const [env, code, message] of [
    [{ TRUCKROLL_API_KEY: 'trk_unknown' }, 1, /does not accept the credential \(TRUCKROLL_API_KEY\)/],
    [{ TRUCKROLL_API_KEY: 'trk_…' }, 2, /TRUCKROLL_API_KEY has characters that keys and tokens do not have/],
    [{ TRUCKROLL_API_KEY: '' }, 2, /give an API key in TRUCKROLL_API_KEY/],
    [{ TRUCKROLL_URL: 'nowhere' }, 2, /must begin with http/],
    [{ TRUCKROLL_URL: `${system.baseUrl}/docs/start` }, 1, /docs\/start is not the address of the API/],
    [{ TRUCKROLL_URL: 'http://127.0.0.1:1' }, 3, /127\.0\.0\.1:1 does not answer/],
  ] as const) {
    const ran = await program.run(['get', 'company', '--json'], { env });
    expect([env, ran.code, JSON.parse(ran.err.trim().split('\n').at(-1)!)]).toEqual([
      env,
      code,
      { error: { message: expect.stringMatching(message), exit_code: code } },
    ]);
    const csv = await program.run(['list', 'accounts', '--csv'], { env });
    expect([env, csv.code, csv.out]).toEqual([env, code, '']);
  }
});

test('says when to try again while an owner is away', async () => {
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Invoices cannot be read now.', request_id: 'r' };
  const away = createServer((_, response) =>
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '120' }).end(JSON.stringify({ error })),
  );
  await once(away.listen(0, '127.0.0.1'), 'listening');
  try {
    const { code, err } = await program.run(['list', 'invoices'], { env: { TRUCKROLL_URL: `http://127.0.0.1:${(away.address() as AddressInfo).port}` } });
    expect([code, err]).toEqual([3, expect.stringContaining('Invoices cannot be read now. Try again in 120 s.')]);
  } finally {
    away.close();
  }
});

test('ends without a word when its reader has enough', async () => {
  const access = { HOME: program.folder, TRUCKROLL_URL: system.baseUrl, TRUCKROLL_API_KEY: company.apiKey };
  const child = spawn(process.execPath, [program.script, 'list', 'accounts', '--csv'], { cwd: program.folder, env: access });
  child.stdout.destroy();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part));
  expect([await once(child, 'close'), said]).toEqual([[0, null], '']);
});
