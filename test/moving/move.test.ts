// A company moves to another cell while it is written to, and the command dies at each of its words in turn. Two installations: each has a
// PostgreSQL, topics and services of its own.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { Ports, Watchdog, runFolder, silent } from '@truckroll/local-stack';
import { migrate } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { testCaller, testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';
import { createWebhookDispatcher } from '../../services/webhook-dispatcher/src/webhook-dispatcher.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { tablesOf } from '../../tools/cli/src/moving/tables.ts';
import { run } from '../../tools/cli/src/run.ts';
import { startPostgres } from '../../tools/local-stack/src/servers/postgres.ts';
import { fill } from '../leaving/fill.ts';
import { SCHEMAS } from '../support/components.ts';
import { newStorage, startSystem, type System, type TestCompany } from '../support/system.ts';

const MINUTES = 60_000;

const folder = runFolder('move-runs');
const watchdog = new Watchdog();
watchdog.deleteAtEnd(folder);
let here: System;
let there: System;
let receiver: Receiver;
let dispatcher: Service;
let moving: TestCompany;
let other: TestCompany;

async function startDatabase(name: string): Promise<string> {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const context = { folder: own, ports: new Ports(join(own, 'ports.json')), logs: join(own, 'logs'), watchdog, say: silent, careless: true };
  const { url } = await startPostgres({ ...context, address: '127.0.0.1', password: 'of the test', settings: { wal_level: 'logical' } });
  for (const { schema, migrations } of SCHEMAS) await migrate({ url, schema, sets: migrations });
  return url;
}

class Died extends Error {}

type Outcome = { readonly code: number; readonly stdout: string; readonly words: readonly string[] };

/** The command, which dies before it says a word for which `dies` is true. */
async function move(
  args: readonly string[],
  { dies = () => false, id = moving.id }: { dies?: (word: string, n: number) => boolean; id?: string } = {},
): Promise<Outcome> {
  let stdout = '';
  const words: string[] = [];
  const write = (word: string): void => {
    words.push(word);
    if (dies(word, words.length)) throw new Died(word);
  };
  const env = { ...environment(here, ''), ...environment(there, 'TO_') };
  const signal = new AbortController().signal;
  const code = await run(['--json', 'company', 'move', id, ...args], {
    env,
    cwd: tmpdir(),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write, isTTY: false },
    signal,
  });
  return { code, stdout, words };
}

function environment(system: System, prefix: string): Record<string, string> {
  const addresses = Object.entries(system.gatewayEnvironment).filter(([name]) => name.endsWith('_ADDRESS'));
  const all = [...addresses, ['DATABASE_URL', system.serviceEnvironment['DATABASE_URL']!] as const, ['CALL_CREDENTIAL', testCaller('operator').text] as const];
  return Object.fromEntries(all.map(([name, value]) => [prefix + name, value]));
}

const rowsOf = async <R = Record<string, any>>(system: System, text: string, ...values: unknown[]) => (await system.database.query<R>({ text, values })).rows;

/** Number of rows of the company, by table that has any. */
async function counts(system: System, company: TestCompany): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { name, key } of await tablesOf(system.database)) {
    const [row] = await rowsOf<{ count: number }>(system, `select count(*) as count from ${name} where ${key} = $1`, company.id);
    if (row!.count > 0) found[name] = row!.count;
  }
  return found;
}

/** Without its trail, which entries reach a second or two late. */
async function countsOfOther(): Promise<Record<string, number>> {
  const { 'integrations.audit_events': _, ...found } = await counts(here, other);
  return found;
}

/** What a move leaves in PostgreSQL. */
async function traces(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const system of [here, there]) {
    found.push(...(await rowsOf(system, 'select slot_name from pg_replication_slots')));
    found.push(...(await rowsOf(system, 'select pubname from pg_publication')));
    found.push(...(await rowsOf(system, 'select subname from pg_subscription')));
    found.push(...(await rowsOf(system, 'select company_id from integrations.moves')));
    for (const owner of owners) found.push(...(await rowsOf(system, `select company_id from ${owner}.frozen_companies`)));
    found.push(...(await rowsOf(system, `select tgname from pg_trigger where tgname like 'frozen%'`)));
  }
  return found;
}

async function record(system: System, company: TestCompany): Promise<string> {
  const id = randomUUID();
  const intake = system.channel('scheduling').client(IntakeServiceService);
  await intake.recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.PHONE, summary: 'during' });
  return id;
}

beforeAll(async () => {
  const [left, right] = await Promise.all([startDatabase('here'), startDatabase('there')]);
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  // Both cells read what the other one has encrypted.
  const secretKey = randomBytes(32);
  here = await startSystem({ storage: { ...newStorage(left), secretKey }, webhookAllowedTargets: [receiver.target] });
  there = await startSystem({ storage: { ...newStorage(right), secretKey }, webhookAllowedTargets: [receiver.target] });
  dispatcher = createWebhookDispatcher({
    ...webhookDispatcherConfig(here.dispatcherEnvironment),
    ...testConfig,
    callCredential: testCaller('webhook-dispatcher'),
  });
  await dispatcher.start();
  [moving, other] = [await here.createCompany(), await here.createCompany()];
  await fill(here, receiver, moving, 'Quillfeather', 3);
  expect((await here.importRecords(other, 'accounts', [line.account(), line.account()])).created).toBe(2);
}, 3 * MINUTES);
afterAll(async () => {
  await dispatcher?.destroy();
  await here?.stop();
  await there?.stop();
  await receiver?.close();
  await watchdog.stopAll();
}, MINUTES);

test('refuses what could not end well, before it changes anything', async () => {
  // The other cell has made fewer changes: consumers of the feed would miss some there.
  expect((await move(['--check'])).words.join()).toContain('has not reached the feed positions of integrations, scheduling, billing, reporting');
  for (const owner of owners) await rowsOf(there, `select setval('${owner}.outbox_id_seq', 1000000000000)`);
  expect((await move([], { id: randomUUID() })).words.join()).toContain('There is no company');
  expect((await move(['--abort'])).words.join()).toContain('No move');
  expect((await move(['--confirm'])).words.join()).toContain('has not been moved');
  const own = { ...environment(here, ''), ...environment(here, 'TO_') };
  let said = '';
  const io = {
    env: own,
    cwd: tmpdir(),
    stdout: { write: () => undefined },
    stderr: { write: (text: string) => (said += text) },
    signal: new AbortController().signal,
  };
  expect(await run(['company', 'move', moving.id], io)).toBe(1);
  expect(said).toContain('the same database');
  const { TO_BILLING_ADDRESS: _, ...without } = { ...environment(here, ''), ...environment(there, 'TO_') };
  expect(await run(['company', 'move', moving.id], { ...io, env: without })).toBe(2);
  expect(said).toContain('Set TO_BILLING_ADDRESS');
  expect(await traces()).toEqual([]);
});

test('says what it would move', async () => {
  const { code, stdout, words } = await move(['--check']);
  expect([code, words]).toEqual([0, []]);
  const { rows, tables } = JSON.parse(stdout) as { rows: number; tables: { table: string; rows: number }[] };
  const expected = await counts(here, moving);
  for (const name of ['scheduling.accounts', 'billing.invoices', 'integrations.api_keys', 'reporting.names']) {
    expect(tables).toContainEqual(expect.objectContaining({ table: name, rows: expected[name] }));
  }
  expect(rows).toBe(tables.reduce((sum, each) => sum + each.rows, 0));
});

test(
  'can be given up wherever it stands',
  async () => {
    const before = await countsOfOther();
    for (const begins of ['comparing', 'the other cell has everything']) {
      await expect(move([], { dies: (word) => word.startsWith(begins) })).rejects.toThrow(Died);
      await expect(move(['--abort'], { dies: (word) => word.startsWith('giving up') })).rejects.toThrow(Died);
      expect((await move([])).words.join()).toContain('run --abort again');
      expect(await move(['--abort'])).toMatchObject({ code: 0 });
      expect(await traces()).toEqual([]);
      expect(await counts(there, moving)).toEqual({});
      await record(here, moving);
    }
    expect(await countsOfOther()).toEqual(before);
  },
  2 * MINUTES,
);

test(
  'finds a table that was left out, and leaves the company where it was',
  async () => {
    await expect(move([], { dies: (word) => word.startsWith('comparing') })).rejects.toThrow(Died);
    await rowsOf(here, `alter publication move_${moving.id.replaceAll('-', '')} drop table scheduling.service_requests`);
    await record(here, moving);
    const { code, words } = await move([]);
    expect([code, words.join()]).toEqual([1, expect.stringContaining('The rows of scheduling.service_requests differ')]);
    await record(here, moving);
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect(await traces()).toEqual([]);
  },
  2 * MINUTES,
);

test(
  'moves a company that is written to, although the command dies at each of its words in turn',
  async () => {
    const acknowledged: string[] = [];
    let goesOn = true;
    const client = async (): Promise<void> => {
      for (let at = here; goesOn; ) {
        try {
          acknowledged.push(await record(at, moving));
          // At a rate: the copy would never end otherwise on a busy machine.
          await pause(20);
        } catch (error) {
          // Frozen: the client asks the other cell, as it would by a directory.
          expect((error as { status?: number }).status).toBe(503);
          at = at === here ? there : here;
          await pause(50);
        }
      }
    };
    const clients = [client(), client()];
    const accounts = await rowsOf(here, `select id, document, change_version from scheduling.accounts where company_id = $1 order by id`, moving.id);
    let died = 0;
    for (;;) {
      const word = died + 1;
      const outcome = await move([], { dies: (_, n) => n === word }).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      if (outcome !== undefined) {
        expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining('"step":"moved"') });
        break;
      }
      died += 1;
    }
    expect(died).toBeGreaterThan(5);
    const before = acknowledged.length;
    await until(
      'requests there',
      () => acknowledged.length,
      (count) => count > before + 3,
    );
    goesOn = false;
    await Promise.all(clients);
    const stored = await rowsOf<{ id: string }>(there, 'select id from scheduling.service_requests where company_id = $1', moving.id);
    const ids = new Set(stored.map(({ id }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    expect(await rowsOf(there, `select id, document, change_version from scheduling.accounts where company_id = $1 order by id`, moving.id)).toEqual(accounts);
    // Its key opens it there.
    expect((await there.get(moving, '/v1/accounts?limit=1')).status).toBe(200);
    expect(await move(['--abort'])).toMatchObject({ code: 1, words: [expect.stringContaining('in the other cell already')] });
  },
  3 * MINUTES,
);

test(
  'deletes the company here when that is confirmed, and nothing of another',
  async () => {
    const before = await countsOfOther();
    await expect(move(['--confirm'], { dies: (word) => word.startsWith('deleting') })).rejects.toThrow(Died);
    expect(await move(['--confirm'])).toMatchObject({ code: 0, words: [expect.stringContaining('deleting')] });
    expect(await counts(here, moving)).toEqual({});
    expect(await countsOfOther()).toEqual(before);
    expect(await traces()).toEqual([]);
    await until(
      'the gateway here to forget the key',
      async () => (await here.get(moving, '/v1/accounts?limit=1')).status,
      (status) => status === 401,
    );
    expect((await there.get(moving, '/v1/accounts?limit=1')).status).toBe(200);
    expect((await here.get(other, '/v1/accounts?limit=1')).status).toBe(200);
    const { companies } = await there.channel('integrations').client(CompanyAdminServiceService).listCompanies({});
    expect(companies.map(({ id, frozen_at }) => [id, frozen_at ?? null])).toEqual([[moving.id, null]]);
    await record(there, moving);
  },
  2 * MINUTES,
);
