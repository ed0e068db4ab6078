// A company moves to another cell and back while it is read and written, and the command dies in each of its steps. Two cells: each has a
// PostgreSQL, topics and services, and one gateway knows both.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { newCallCredential } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import type { Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { fill, operatorsCommand } from '../leaving/fill.ts';
import { nameOf } from '../../tools/cli/src/moving/state.ts';
import { SCHEMAS } from '../support/components.ts';
import type { System, TestCompany } from '../support/system.ts';
import { DEAD_LETTER, LATE_ENTRY, losingBoth, losingTheOther, losingThis } from './mishaps.ts';
import { continuing, expectNothingIn, publishing, withSameSubject } from './outcomes.ts';
import { Died, counts, environment, record, rowsOf, runMove, startTwoCells, tracesIn, type Ends, type Outcome, type TwoCells } from './two-cells.ts';

const MINUTES = 60_000;

let cells: TwoCells;
let here: System;
let there: System;
let receiver: Receiver;
let moving: TestCompany;
let other: TestCompany;

/** The command, which dies when it says something that begins with `dies`. */
async function move(
  args: readonly string[],
  { id = moving.id, back = false, also = {}, ...ends }: Ends & { id?: string; back?: boolean; also?: Record<string, string | undefined> } = {},
): Promise<Outcome> {
  const [from, to] = back ? [there, here] : [here, there];
  return await runMove([id, ...args], { ...environment(from, ''), ...environment(to, 'TO_'), ...also }, ends);
}

/** Without its trail, which entries reach a second or two late. */
async function countsOfOther(): Promise<Record<string, number>> {
  const { 'integrations.audit_events': _, ...found } = await counts(here, other);
  return found;
}

const nameOfMove = (): string => nameOf(moving.id);
const AWAY = ['billing', 'integrations'] as const;
const OPEN_AGAIN = 'the company can be changed here again';
const FEED = '/api/v1/integrations/changes';

/** Ids of accounts in the feed after the cursor, or of all, as the one gateway shows them. */
async function changes(after?: string): Promise<{ cursor: string; ids: string[] }> {
  const ids: string[] = [];
  for (let cursor = after; ; ) {
    const { status, body } = await here.get(moving, `${FEED}?kinds=accounts${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    // Not 410 either.
    expect(status).toBe(200);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor as string;
    if (!body.hasMore) return { cursor, ids };
  }
}

const digestSince = async (cursor: string) => (await here.get(moving, `${FEED}/digest?kinds=accounts&cursor=${encodeURIComponent(cursor)}`)).body;

/** Stores an account in the cell, and expects nothing else in the feed after the cursor. */
async function expectNextChange(system: System, cursor: string): Promise<void> {
  const account = line.account();
  expect((await system.importRecords(moving, 'accounts', [account])).created).toBe(1);
  const seen = await until(
    'the change',
    async () => (await changes(cursor)).ids,
    (ids) => ids.length > 0,
  );
  expect(seen).toEqual([account['id']]);
}

/** What the one gateway answers to a read: the status, and when to come again. */
async function read(): Promise<string> {
  const { status, headers } = await here.get(moving, '/v1/accounts?limit=1');
  return status === 200 ? '200' : `${status} ${headers.get('retry-after')}`;
}

beforeAll(async () => {
  cells = await startTwoCells('move-runs');
  ({ here, there, receiver } = cells);
  [moving, other] = [await here.createCompany(), await here.createCompany()];
  await fill(here, receiver, moving, 'Quillfeather', 3);
  expect((await here.importRecords(other, 'accounts', [line.account(), line.account()])).created).toBe(2);
}, 3 * MINUTES);
afterAll(() => cells?.stop(), MINUTES);

test('refuses what could not end well, before it changes anything', async () => {
  await rowsOf(there, `insert into billing.catch_up (task, subject) values ('feed', 'refunds of before')`);
  expect((await move([])).words.join()).toContain('In the other cell, billing still prepares the change feed of refunds of before');
  await rowsOf(there, `delete from billing.catch_up where subject = 'refunds of before'`);
  expect((await move([], { id: randomUUID() })).words.join()).toContain('There is no company');
  expect((await withSameSubject(here, there, moving, () => move([]))).words.join()).toContain('users with the same subjects');
  expect((await move(['--abort'])).words.join()).toContain('No move');
  expect((await move(['--confirm'])).words.join()).toContain('has not been moved');
  expect((await move([], { also: environment(here, 'TO_') })).words.join()).toContain('the same database');
  const without = await move([], { also: { TO_BILLING_ADDRESS: undefined, REPORTING_ADDRESS: undefined, FROM_DATABASE_URL: 'host=127.0.0.1 user=reader' } });
  const missing = /Set TO_BILLING_ADDRESS.*set REPORTING_ADDRESS.*FROM_DATABASE_URL is no address of a database/s;
  expect([without.code, without.words.join()]).toEqual([2, expect.stringMatching(missing)]);
  const stranger = await move([], { also: { TO_CALL_CREDENTIAL: newCallCredential('operator').text } });
  expect(stranger.words.join()).toContain('refused your credential: set TO_CALL_CREDENTIAL or');
  expect(await tracesIn(here, there)).toEqual([]);
});

test(
  'ends the freeze of services that use another database than is named',
  async () => {
    const third = await freshDatabase(Object.fromEntries(SCHEMAS.map(({ schema, migrations }) => [schema, migrations])));
    const database = new Database({ url: third.url, maxConnections: 1 });
    for (const owner of owners) await database.query({ text: `update ${owner}.catch_up set complete = true` });
    await database.close();
    const also = { TO_DATABASE_URL: third.url };
    expect((await move([], { also })).words.join()).toContain('of the other cell froze the company in another database');
    for (const owner of owners) expect(await rowsOf(there, `select from ${owner}.frozen_companies`)).toEqual([]);
    expect(await move(['--abort'], { also })).toMatchObject({ code: 0 });
    expect(await tracesIn(here, there)).toEqual([]);
    await third.drop();
  },
  MINUTES,
);

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
  'finds a table that was left out, leaves the company where it was, and can be given up',
  async () => {
    const before = await countsOfOther();
    await expect(move([], { dies: 'comparing' })).rejects.toThrow(Died);
    await rowsOf(here, `alter publication ${nameOfMove()} drop table scheduling.service_requests`);
    await record(here, moving);
    const { code, words } = await move([]);
    expect([code, words.join()]).toEqual([1, expect.stringContaining('The rows of scheduling.service_requests differ')]);
    await record(here, moving);
    await expect(move(['--abort'], { dies: 'giving up' })).rejects.toThrow(Died);
    expect((await move([])).words.join()).toContain('run --abort again');
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    await expectNothingIn(there, here, moving);
    expect(await countsOfOther()).toEqual(before);
  },
  2 * MINUTES,
);

test(
  'can be given up until the other cell takes the company over, and its requests are answered here again',
  async () => {
    await expect(move([], { dies: 'copying' })).rejects.toThrow(Died);
    // As in a database of before.
    await rowsOf(there, 'delete from integrations.moves');
    expect((await move([])).words.join()).toContain('knows nothing of the move');
    expect(await rowsOf(there, 'select company_id from scheduling.frozen_companies')).toEqual([]);
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    await expect(move([], { dies: 'closing' })).rejects.toThrow(Died);
    // One that failed in the pause. The company does not wait for a service that is away.
    await expect(move([], { dies: 'frozen' })).rejects.toThrow(Died);
    for (const owner of AWAY) await here.stopService(owner);
    const again = expect(move([], { dies: 'closing' })).rejects.toThrow(Died);
    await until('changes without them', () => record(here, moving).catch(() => undefined));
    for (const owner of AWAY) await here.startService(owner);
    await again;
    const interrupted = await losingTheOther(there, (signal) => move([], { signal }));
    // With webhooks.
    expect(await rowsOf(here, 'select from integrations.frozen_companies')).toEqual([]);
    const [lost, late] = [await losingBoth(here, there, moving, move), await losingThis(here, () => move([]))];
    for (const { words } of [interrupted, lost, late]) expect(words.at(-2)).toContain(OPEN_AGAIN);
    expect([interrupted.code, lost.code, late.code]).toEqual([130, 3, 3]);
    await record(here, moving);
    expect(await read()).toBe('200');
    await expect(move([], { dies: 'closing' })).rejects.toThrow(Died);
    // The freeze is prepared, so that it need not wait for transactions of others.
    expect((await rowsOf(here, `select from pg_trigger where tgname like 'frozen%'`)).length).toBeGreaterThan(100);
    // The other cell has its keys already, and sends them back.
    expect(await rowsOf(there, 'select company_id, cell from integrations.company_places')).toEqual([{ company_id: moving.id, cell: 'home' }]);
    await record(here, moving);
    await expect(move([], { dies: 'the other cell has everything' })).rejects.toThrow(Died);
    await until('requests to be held', read, (answer) => answer === '503 1');
    expect(await operatorsCommand(here, ['company', 'unfreeze', moving.id])).toMatchObject({ code: 1, stderr: expect.stringContaining('is being moved') });
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect(await read()).toBe('200');
    await record(here, moving);
    await expectNothingIn(there, here, moving);
  },
  2 * MINUTES,
);

test(
  'can be given up without the other cell, and stops at a dead letter',
  async () => {
    await expect(move([], { dies: 'closing' })).rejects.toThrow(Died);
    await rowsOf(here, DEAD_LETTER, `${moving.id}/accounts/1`);
    expect((await move([])).words.join()).toContain('dead letters of the company (billing 1)');
    await record(here, moving);
    await rowsOf(here, `delete from billing.parked_event where reason = 'a defect'`);
    const [state] = await rowsOf(here, 'select * from integrations.moves');
    expect((await move(['--status', '--without-other'])).words.join()).toContain('Give --without-other with --abort only');
    const also = Object.fromEntries(Object.keys(environment(there, 'TO_')).map((name) => [name, undefined]));
    expect(await move(['--abort', '--without-other'], { also })).toMatchObject({ code: 0 });
    const left = 'select slot_name::text from pg_replication_slots union all select pubname from pg_publication union all select step from integrations.moves';
    expect(await rowsOf(here, left)).toEqual([]);
    expect(await read()).toBe('200');
    await record(here, moving);
    await rowsOf(here, `insert into integrations.moves (company_id, arrives, other, step) values ($1, false, $2, 'giving up')`, moving.id, state!['other']);
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect([await tracesIn(here, there), await counts(there, moving)]).toEqual([[], {}]);
  },
  2 * MINUTES,
);

/** What it says at the end of each step, or in it. */
const DEATHS = ['copied', 'comparing', OPEN_AGAIN, 'frozen', OPEN_AGAIN, 'the other cell has everything', 'the company works', 'clearing'];

test(
  'moves a company that is read and written, although the command dies in each of its steps',
  async () => {
    const acknowledged: string[] = [];
    const answers = new Set<string>();
    let goesOn = true;
    const client = async (): Promise<void> => {
      for (let at = here; goesOn; ) {
        try {
          acknowledged.push(await record(at, moving));
          // At a rate: the copy would never end otherwise on a busy machine.
          await pause(20);
        } catch (error) {
          // Frozen: intake has no gateway that would find the other cell for it.
          expect((error as { status?: number }).status).toBe(503);
          at = at === here ? there : here;
          await pause(50);
        }
      }
    };
    const reader = async (): Promise<void> => {
      for (; goesOn; await pause(50)) answers.add(await read());
    };
    const clients = [client(), client(), reader()];
    const goesOnThere = [await continuing(here, there, receiver, moving), await publishing(there)];
    const accounts = await rowsOf(here, `select id, document from scheduling.accounts where company_id = $1 order by id`, moving.id);
    const { cursor } = await changes();
    const digest = await digestSince(cursor);
    const person = { company_id: moving.id, kind: 'accounts', id: randomUUID() };
    const erased = `with p as (insert into integrations.erased_people (company_id, kind, id) values ($1, $2, $3) returning *)
      insert into integrations.audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id)
      select company_id, asked_at, gen_random_uuid(), 'OPERATOR', 'o', 'o', 'person.erased', kind, id from p`;
    await rowsOf(here, erased, ...Object.values(person));
    const late = { ...person, id: randomUUID() };
    for (const dies of DEATHS) {
      await expect(move([], { dies })).rejects.toThrow(Died);
      // The freeze waits for it.
      if (['comparing', OPEN_AGAIN].includes(dies)) await cells.dispatcher.destroy();
      if (dies === OPEN_AGAIN) cells.dispatcher = await here.startDispatcher();
      // As it does when it loses its connection to a server that restarts.
      if (dies === 'comparing') await rowsOf(there, `alter subscription ${nameOfMove()} disable`);
    }
    // Integrations was closed before the last entries were published.
    await rowsOf(here, `update integrations.frozen_companies set passes = '[]'`);
    // The other cell has erased a person, and an entry that arrives late in this cell has the name.
    await rowsOf(
      there,
      'insert into integrations.erased_people (company_id, kind, id, asked_at, ended_at) values ($1, $2, $3, now(), now())',
      ...Object.values(late),
    );
    await rowsOf(here, LATE_ENTRY, ...Object.values(late), JSON.stringify({ id: late.id, name: 'Quillfeather' }));
    await rowsOf(here, DEAD_LETTER.replaceAll('billing', 'integrations'), `${moving.id}/accounts/1`);
    expect((await move([])).words.join()).toMatch(/the move cannot end:.*dead letters of the company \(integrations 1\)/s);
    await rowsOf(here, `delete from integrations.parked_event where reason = 'a defect'`);
    expect(await move([])).toMatchObject({ code: 0, stdout: expect.stringContaining('"step":"moved"') });
    expect(await rowsOf(here, `select from integrations.frozen_companies where passes <> '[]'`)).toHaveLength(1);
    await until('the late entry without the name', async () => {
      await there.channel('integrations').client(ErasureServiceService).getPerson(late);
      const [entry] = await rowsOf(there, 'select after from integrations.audit_events where object_id = $1', late.id);
      return entry!['after'].includes('Erased person');
    });
    const before = acknowledged.length;
    await until(
      'requests there',
      () => acknowledged.length,
      (count) => count > before + 3,
    );
    goesOn = false;
    await Promise.all(clients);
    // One address: the key is accepted there all the time, or has to come again while the company is switched.
    expect([...answers].filter((answer) => answer !== '503 1')).toEqual(['200']);
    expect(await read()).toBe('200');
    const stored = await rowsOf<{ id: string }>(there, 'select id from scheduling.service_requests where company_id = $1', moving.id);
    const ids = new Set(stored.map(({ id }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    expect(await rowsOf(there, `select id, document from scheduling.accounts where company_id = $1 order by id`, moving.id)).toEqual(accounts);
    expect(await rowsOf(there, `select from pg_stat_user_tables where relname = 'accounts' and last_analyze is not null`)).toHaveLength(1);
    // A copy that was kept by the feed of the first cell is kept by that of the other one.
    expect((await digestSince(cursor)).data).toEqual(digest.data);
    await expectNextChange(there, cursor);
    expect(await move(['--abort'])).toMatchObject({ code: 1, words: [expect.stringContaining('in the other cell already')] });
    for (const expected of goesOnThere) await expected();
    await until('scheduling to learn the erasure', async () => {
      await there.channel('scheduling').client(ErasureServiceService).getPerson(person);
      return (await rowsOf(there, 'select from scheduling.erased_people where id = $1', person.id)).length === 1;
    });
  },
  3 * MINUTES,
);

test(
  'deletes nothing after a restore of the other cell, and goes on after one of this cell',
  async () => {
    await rowsOf(there, `update integrations.moves set arrives = false`);
    expect((await move(['--confirm'])).words.join()).toContain('knows nothing of the move');
    expect((await move(['--abort'])).words.join()).toContain('has rows of the company');
    await rowsOf(there, `update integrations.moves set arrives = true, step = 'complete'`);
    expect((await move(['--confirm'])).words.join()).toContain('does not have all of the company');
    await rowsOf(there, `update integrations.moves set step = 'open'`);
    // The company works there, and this cell believes that it is still here.
    await rowsOf(here, `update integrations.moves set step = 'copying'`);
    await rowsOf(here, 'delete from integrations.company_places');
    for (const owner of owners) await rowsOf(here, `delete from ${owner}.frozen_companies`);
    expect((await move(['--status'])).stdout).toContain('"open_here":true');
    expect((await move(['--abort'])).words.join()).toContain('in the other cell already');
    const { 'scheduling.accounts': accounts } = await counts(there, moving);
    expect(await move([])).toMatchObject({ code: 0, stdout: expect.stringContaining('"step":"moved"') });
    expect(await counts(there, moving)).toMatchObject({ 'scheduling.accounts': accounts });
    await expect(record(here, moving)).rejects.toMatchObject({ status: 503 });
    expect(await read()).toBe('200');
  },
  MINUTES,
);

test(
  'deletes the company here when that is confirmed, and nothing of another',
  async () => {
    const before = await countsOfOther();
    const companiesThere = there.channel('integrations').client(CompanyAdminServiceService);
    const name = (await companiesThere.listCompanies({ id: moving.id })).companies[0]!.name;
    await expect(companiesThere.deleteCompany({ id: moving.id, name })).rejects.toThrow('is being moved');
    expect((await move(['--check'], { back: true })).words.join()).toContain('run it again with --confirm first, in the cell that it left');
    expect(await operatorsCommand(there, ['company', 'freeze', moving.id])).toMatchObject({ code: 1, stderr: expect.stringContaining('is being moved') });
    await rowsOf(here, LATE_ENTRY, moving.id, 'accounts', 'later than the move', null);
    await expect(move(['--confirm'], { dies: 'deleting' })).rejects.toThrow(Died);
    expect(await rowsOf(there, 'select from integrations.audit_events where object_id = $1', 'later than the move')).toHaveLength(1);
    expect((await move([])).stdout).toContain('"step":"deleting"');
    expect(await move(['--confirm'])).toMatchObject({ code: 0, words: [expect.stringContaining('deleting')] });
    await expectNothingIn(here, there, moving);
    expect(await countsOfOther()).toEqual(before);
    expect(await read()).toBe('200');
    expect((await here.get(other, '/v1/accounts?limit=1')).status).toBe(200);
    const { companies } = await there.channel('integrations').client(CompanyAdminServiceService).listCompanies({});
    expect(companies.map(({ id, frozen_at }) => [id, frozen_at ?? null])).toEqual([[moving.id, null]]);
    await record(there, moving);
  },
  2 * MINUTES,
);

test(
  'moves back, and the same cursor goes on',
  async () => {
    const { cursor } = await changes();
    const digest = await digestSince(cursor);
    await expect(move([], { back: true, dies: 'clearing' })).rejects.toThrow(Died);
    // A failover to a standby without the slot.
    await rowsOf(here, `alter subscription ${nameOfMove()} disable`);
    await until('the slot to be free', async () => (await rowsOf(there, 'select from pg_replication_slots where active')).length === 0);
    await rowsOf(there, 'select pg_drop_replication_slot($1)', nameOfMove());
    await rowsOf(there, LATE_ENTRY, moving.id, 'accounts', 'without a slot', null);
    expect(await move([], { back: true })).toMatchObject({ code: 0, stdout: expect.stringContaining('"step":"moved"') });
    expect(await rowsOf(here, 'select from integrations.audit_events where object_id = $1', 'without a slot')).toHaveLength(1);
    expect((await digestSince(cursor)).data).toEqual(digest.data);
    expect(await move(['--confirm'], { back: true })).toMatchObject({ code: 0 });
    expect(await read()).toBe('200');
    await expectNextChange(here, cursor);
    await expectNothingIn(there, here, moving);
    await record(here, moving);
  },
  2 * MINUTES,
);

test(
  'goes on here if the other cell was restored after it took the company over',
  async () => {
    await expect(move([], { dies: 'clearing' })).rejects.toThrow(Died);
    await record(there, moving);
    await rowsOf(there, `update integrations.moves set step = 'arriving'`);
    expect((await move([])).words.join()).toContain('does not have all of the company');
    expect(await move(['--abort'])).toMatchObject({ code: 0 });
    expect(await read()).toBe('200');
    await record(here, moving);
    await expectNothingIn(there, here, moving);
  },
  2 * MINUTES,
);
