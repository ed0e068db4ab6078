// A whole move without a superuser: with the roles and rights of docs/how-to, from PostgreSQL 16 to 18, where services have roles of their own.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressVariable, owners } from '@truckroll/contract';
import { ROOT, Watchdog, runFolder } from '@truckroll/local-stack';
import { createSession, migrate } from '@truckroll/postgres';
import { testCaller } from '@truckroll/testing';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { problemsOfTransactions } from '../../tools/cli/src/moving/check.ts';
import { openCell } from '../../tools/cli/src/moving/cells.ts';
import { untilApplied } from '../../tools/cli/src/moving/replicate.ts';
import { run } from '../../tools/cli/src/run.ts';
import type { Session } from '../../tools/cli/src/session.ts';
import { fill } from '../leaving/fill.ts';
import { SCHEMAS } from '../support/components.ts';
import { documentedSql } from '../support/documented-sql.ts';
import { startLogicalPostgres } from '../support/logical-postgres.ts';
import { olderPostgres } from '../support/older-postgres.ts';
import { newStorage, startSystem, type System, type TestCompany } from '../support/system.ts';

const MINUTES = 60_000;

const folder = runFolder('move-rights-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
/** With the role of a superuser. */
const urls: Record<'here' | 'there', string> = { here: '', there: '' };
let cells: string;
let here: System;
let there: System;
let receiver: Receiver;
let moving: TestCompany;

type Side = keyof typeof urls;

const as = (side: Side, username: string, password = '…'): string => Object.assign(new URL(urls[side]), { username, password }).href;

async function sql(url: string, ...statements: string[]): Promise<any[]> {
  const session = await createSession({ url, statementTimeoutMs: 0 });
  try {
    let rows: any[] = [];
    for (const text of statements) rows = (await session.query<any>({ text })).rows;
    return rows;
  } finally {
    await session.close();
  }
}

/** The rights of a move, as the page gives them to the cell that a company leaves, and to the one where it arrives. */
const [LEAVES, ARRIVES] = documentedSql('move-a-company', '## Before the first move').split('-- in the other one') as [string, string];

async function startDatabase(side: Side): Promise<void> {
  const url = new URL(await startLogicalPostgres(join(folder, side), watchdog, side === 'here' ? olderPostgres(16) : undefined));
  await sql(url.href, `create role manager login createrole password '…'`, 'create database truckroll owner manager');
  url.pathname = '/truckroll';
  urls[side] = url.href;
  await sql(as(side, 'manager'), documentedSql('install', '## Making the database roles'));
  for (const { schema, migrations } of SCHEMAS) await migrate({ url: as(side, 'truckroll_migrate'), schema, sets: migrations });
  await sql(url.href, side === 'here' ? LEAVES : ARRIVES);
}

async function startCell(side: Side, secretKey: Buffer, cell: string, gatewaySettings = {}): Promise<System> {
  const storage = { ...newStorage(urls[side]), urlOf: (owner: string) => as(side, owner), secretKey };
  const system = await startSystem({ webhookAllowedTargets: [receiver.target], storage, cell, gatewaySettings });
  await system.startDispatcher();
  return system;
}

function environment(side: Side, system: System, prefix: string): Record<string, string> {
  const addresses = owners.map((owner) => [addressVariable(owner), system.gatewayEnvironment[addressVariable(owner)]!] as const);
  const all = [...addresses, ['DATABASE_URL', as(side, 'truckroll_migrate')] as const, ['CALL_CREDENTIAL', testCaller('operator').text] as const];
  return Object.fromEntries(all.map(([name, value]) => [prefix + name, value]));
}

/** The command, which dies when it says something that begins with `dies`. */
async function move(args: readonly string[], { dies, also = {} }: { dies?: string; also?: Record<string, string> } = {}) {
  let [stdout, stderr] = ['', ''];
  const write = (text: string): void => {
    stderr += text;
    if (dies !== undefined && text.startsWith(dies)) throw new Error('died');
  };
  const env = { ...environment('here', here, ''), ...environment('there', there, 'TO_'), FROM_DATABASE_URL: as('here', 'truckroll_move'), ...also };
  const io = {
    env,
    cwd: tmpdir(),
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write, isTTY: false },
    signal: new AbortController().signal,
  };
  const code = await run(['--json', 'company', 'move', moving.id, ...args], io);
  return { code, stdout, stderr };
}

const traces = async (): Promise<unknown[]> => {
  const left = `select slot_name::text from pg_replication_slots union all select pubname from pg_publication union all select subname from pg_subscription
    union all select company_id::text from integrations.moves`;
  return [...(await sql(urls.here, left)), ...(await sql(urls.there, left))];
};

beforeAll(async () => {
  await Promise.all([startDatabase('here'), startDatabase('there')]);
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  const secretKey = randomBytes(32);
  there = await startCell('there', secretKey, 'west');
  cells = owners.map((owner) => `west/${owner}=${there.gatewayEnvironment[addressVariable(owner)]}`).join();
  here = await startCell('here', secretKey, 'home', { CELL: 'home', CELLS: cells });
  moving = await here.createCompany();
  await fill(here, receiver, moving, 'Quillfeather', 3);
}, 4 * MINUTES);
afterAll(async () => {
  await here?.stop();
  await there?.stop();
  await receiver?.close();
  await watchdog.stopAll();
}, MINUTES);

/** What a command says that waits for a subscription with a password of before. */
async function saidWhileItWaits(): Promise<string> {
  const ended = new AbortController();
  let said = '';
  const note = (text: string): void => {
    said = text;
    ended.abort();
  };
  const [from, to] = await Promise.all(
    (['here', 'there'] as const).map((side) => {
      const session = { database: () => ({ url: as(side, 'truckroll_migrate') }), secret: () => as('here', 'truckroll_move'), note };
      return openCell(side, session as unknown as Session);
    }),
  );
  await expect(untilApplied(from!, to!, moving.id, ended.signal)).rejects.toThrow();
  await Promise.all([from!.close(), to!.close()]);
  return said;
}

test('PostgreSQL notices within a minute that the machine of the command is lost, and gives up its lock', async () => {
  const session = { database: () => ({ url: as('here', 'truckroll_migrate') }) };
  const { db, close } = await openCell('here', session as unknown as Session);
  const { rows } = await db.query<{ seconds: number }>({
    text: `select current_setting('tcp_keepalives_idle')::int + current_setting('tcp_keepalives_interval')::int * current_setting('tcp_keepalives_count')::int as seconds`,
  });
  await close();
  expect(rows).toEqual([{ seconds: 40 }]);
});

const MISSING: readonly (readonly [Side, taken: string, given: string, says: string])[] = [
  ['here', 'alter role truckroll_migrate noreplication', 'alter role truckroll_migrate replication', 'The role of DATABASE_URL may not replicate'],
  [
    'here',
    'revoke create on database truckroll from truckroll_migrate',
    'grant create on database truckroll to truckroll_migrate',
    'may not create a publication',
  ],
  ['here', 'alter role truckroll_move noreplication', 'alter role truckroll_move replication', 'cannot read here'],
  ['here', 'revoke truckroll_move from truckroll_migrate', 'grant truckroll_move to truckroll_migrate', 'may not end what truckroll_move'],
  [
    'here',
    'revoke billing from truckroll_migrate granted by manager',
    'grant billing to truckroll_migrate granted by manager',
    'In this cell, the role truckroll_migrate is no member of billing',
  ],
  [
    'there',
    'revoke reporting from truckroll_migrate granted by manager',
    'grant reporting to truckroll_migrate granted by manager',
    'In the other cell, the role truckroll_migrate is no member of reporting',
  ],
  ['there', 'revoke pg_create_subscription from truckroll_migrate', 'grant pg_create_subscription to truckroll_migrate', 'may not subscribe'],
  ['there', 'revoke create on database truckroll from truckroll_migrate', 'grant create on database truckroll to truckroll_migrate', 'may not subscribe'],
  ...(['here', 'there'] as const).map(
    (side) =>
      [
        side,
        'revoke pg_read_all_stats from truckroll_migrate',
        'grant pg_read_all_stats to truckroll_migrate',
        `In ${side === 'here' ? 'this' : 'the other'} cell, the role truckroll_migrate does not see how old transactions of others are`,
      ] as const,
  ),
  ...(['here', 'there'] as const).map(
    (side) =>
      [
        side,
        'revoke set on parameter session_replication_role from truckroll_migrate',
        'grant set on parameter session_replication_role to truckroll_migrate',
        `In ${side === 'here' ? 'this' : 'the other'} cell, the role truckroll_migrate may not write as a replica`,
      ] as const,
  ),
];

test.each(MISSING)('in the cell "%s", says what is missing after: %s', async (side, taken, given, says) => {
  await sql(urls[side], taken);
  const { code, stderr } = await move(['--check']);
  await sql(urls[side], given);
  expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  expect(JSON.parse(stderr).error.message.split('\n')).toHaveLength(2);
  expect(await traces()).toEqual([]);
});

test.each([
  ['has no password', () => as('here', 'truckroll_move', ''), 'password is required'],
  ['has a wrong password', () => as('here', 'truckroll_move', 'wrong'), 'password authentication failed'],
  ['leads nowhere', () => 'postgres://truckroll_move:wrong@127.0.0.1:1/truckroll', 'could not connect'],
  ['leads to another database', () => as('here', 'truckroll_move').replace(/truckroll$/, 'postgres'), 'it leads to another database'],
])('says before the copy that FROM_DATABASE_URL %s', async (_, url, says) => {
  const { code, stderr } = await move([], { also: { FROM_DATABASE_URL: url() } });
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`other cell's PostgreSQL cannot read here: .*${says}`))]);
  expect(stderr).not.toContain('wrong');
  expect(await traces()).toEqual([]);
});

test('sees the transactions of others, and prepared ones', async () => {
  const cell = await openCell('this cell', { database: () => ({ url: as('here', 'truckroll_migrate') }) } as unknown as Session);
  const session = await createSession({ url: urls.here, statementTimeoutMs: 0 });
  const seen = async () => (await problemsOfTransactions(cell, -1)).join();
  await session.query({ text: 'begin' });
  const { rows } = await session.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid, pg_current_xact_id()::text as xid' });
  expect(await seen()).toContain(`In this cell, a transaction of the process ${rows[0]!.pid} is 0 s old`);
  await session.query({ text: `prepare transaction 'forgotten'` });
  expect(await seen()).toContain('the prepared transaction forgotten');
  await session.query({ text: `rollback prepared 'forgotten'` });
  await session.close();
  await cell.close();
});

test('says why PostgreSQL of a cell cannot be used, and which variable names it', async () => {
  const says = async (url: string) => (await move(['--check'], { also: { TO_DATABASE_URL: url } })).stderr;
  expect(await says(as('there', 'truckroll_migrate', 'wrong'))).toMatch(
    /of the other cell cannot be used: password authentication failed.*Correct TO_DATABASE_URL/,
  );
  expect(await says('http://there')).toContain('TO_DATABASE_URL is no address');
  await sql(urls.here, 'alter table integrations.moves rename to missing');
  const { code, stderr } = await move(['--status']);
  await sql(urls.here, 'alter table integrations.missing rename to moves');
  expect([code, stderr]).toEqual([1, expect.stringContaining('run `truckroll migrate`')]);
});

test('refuses a cell with a server for each service, before anything is copied', async () => {
  const url = as('here', 'billing').replace(/truckroll$/, 'postgres');
  const named = await move(['--check'], { also: { BILLING_DATABASE_URL: url } });
  expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('In this cell services have separate servers') });
  const other = await move([], { also: { TO_DATABASE_URL: as('there', 'truckroll_migrate').replace(/truckroll$/, 'postgres') } });
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('has no schema integrations, scheduling, billing, reporting') });
  expect(await traces()).toEqual([]);
});

test('`truckroll cells` names a slot that no move needs, and how to drop it', async () => {
  const name = `move_${'0'.repeat(32)}`;
  await sql(urls.here, `select pg_create_logical_replication_slot('${name}', 'pgoutput')`);
  let stdout = '';
  const io = { cwd: tmpdir(), stdout: { write: (text: string) => (stdout += text) }, stderr: { write: () => undefined }, signal: new AbortController().signal };
  const env = { ...environment('here', here, ''), CELL: 'home', CELLS: cells };
  const code = await run(['--json', 'cells'], { ...io, env });
  await sql(urls.here, `select pg_drop_replication_slot('${name}')`);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      cells: [{ cell: 'home', wal_kept: expect.any(Number) }, { wal_kept: 0 }],
      faults: [expect.stringContaining(`select pg_drop_replication_slot('${name}')`)],
    },
  ]);
  stdout = '';
  expect(await run(['cells'], { ...io, env })).toBe(0);
  const narrow = (text: string): string => text.replaceAll(/ +/g, ' ');
  expect(narrow(readFileSync(join(ROOT, 'docs/how-to/growing.md'), 'utf8'))).toContain(`\n${narrow(stdout.split('\n')[0]!)}\n`);
});

test(
  'nothing is missing with the rights of the page: a move can be given up, and moves the company',
  async () => {
    const roles = `select rolname from pg_roles where rolsuper and rolname not in ('truckroll')`;
    expect([...(await sql(urls.here, roles)), ...(await sql(urls.there, roles))]).toEqual([]);
    expect(await move(['--check'])).toMatchObject({ code: 0, stderr: '' });
    await expect(move([], { dies: 'following' })).rejects.toThrow('died');
    const also = { FROM_DATABASE_URL: as('here', 'truckroll_move', 'wrong') };
    expect(await move([], { also })).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot read here: .*password authentication failed/) });
    await expect(move([], { dies: 'frozen' })).rejects.toThrow('died');
    expect(JSON.parse((await move(['--status'])).stdout)).toMatchObject({ step: 'closing', at_work: false, slot: { read: true } });
    expect(await move([], { also })).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot read here: .*password authentication failed/) });
    // The subscription has the password of before.
    await sql(urls.here, `alter role truckroll_move password 'another'`, 'select pg_terminate_backend(active_pid) from pg_replication_slots');
    expect(await saidWhileItWaits()).toMatch(/cannot read here: .*password authentication failed.*run it again/);
    const another = { FROM_DATABASE_URL: as('here', 'truckroll_move', 'another') };
    await expect(move([], { dies: 'frozen', also: another })).rejects.toThrow('died');
    await sql(urls.here, `alter role truckroll_move password '…'`);
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect(await traces()).toEqual([]);
    const [{ count }] = await sql(urls.here, `select count(*)::int as count from scheduling.accounts where company_id = '${moving.id}'`);
    expect(await move([])).toMatchObject({ code: 0, stdout: expect.stringContaining('"step":"moved"') });
    expect(JSON.parse((await move(['--status'])).stdout)).toMatchObject({ step: 'moved', slot: null });
    expect(await move(['--confirm'])).toMatchObject({ code: 0 });
    expect(await traces()).toEqual([]);
    expect(await sql(urls.there, `select count(*)::int as count from scheduling.accounts where company_id = '${moving.id}'`)).toEqual([{ count }]);
    expect((await here.get(moving, '/v1/accounts?limit=1')).status).toBe(200);
  },
  3 * MINUTES,
);
