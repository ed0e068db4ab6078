// A company is frozen while it works: nothing of it is changed any more, nothing that was acknowledged is lost, others notice nothing, and
// afterwards everything goes on.
import { randomUUID } from 'node:crypto';
import { owners, resources, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { createSession } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { STAYS } from '../../packages/erasure/src/tables.ts';
import * as line from '../../services/scheduling/test/records.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { fill, operatorsCommand, operatorsText, request } from '../leaving/fill.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';

const MINUTES = 60_000;
const ORDER: readonly Owner[] = ['scheduling', 'billing', 'reporting', 'integrations'];

let system: System;
let receiver: Receiver;
let desk: DispatchDesk;
let frozen: TestCompany;
let other: TestCompany;

const command = (...args: string[]) => operatorsCommand(system, args);
const sql = (text: string, ...values: unknown[]) => system.database.query<Record<string, any>>({ text, values });
const freezes = (owner: Owner) => system.channel(owner).client(FreezeServiceService);
const admin = () => system.channel('integrations').client(CompanyAdminServiceService);
const webhooksOf = (summary: string): number => receiver.received.filter(({ body }) => body.includes(summary)).length;

async function restart(owner: Owner): Promise<void> {
  await system.stopService(owner);
  await system.startService(owner);
  await system.channel(owner).check(10_000);
}

/** A digest of all rows of the company, by table. */
async function rowsOf(company: TestCompany): Promise<Record<string, string>> {
  const { rows: tables } = await sql(
    `select format('%I.%I', n.nspname, c.relname) as name, a.attname as key from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = case when n.nspname || '.' || c.relname = 'integrations.companies' then 'id' else 'company_id' end
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($2) order by 1`,
    owners,
    [...Object.keys(STAYS), 'audit_events'],
  );
  const found: Record<string, string> = {};
  for (const { name, key } of tables) {
    const { rows } = await sql(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '') as digest from ${name} t where ${key} = $1`,
      company.id,
    );
    found[name as string] = rows[0]!['digest'] as string;
  }
  return found;
}

interface Sent {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly message: string;
}

/** Every way to change something of a company. */
const WRITES: Readonly<Record<string, () => Promise<Sent>>> = {
  'POST /v1/job-assignments': async () => answerOf(await desk.add(await desk.read(unassigned.at(-1)!))),
  'an import': () => called(() => system.importRecords(frozen, 'accounts', [line.account()])),
  intake: () => called(() => request(system, frozen, 'late')),
  'a new webhook endpoint': () => asUser('POST', '/api/v1/integrations/webhooks', { name: 'x', url: receiver.url, eventTypes: ['service_request.created'] }),
  'a saved view': () => asUser('PUT', '/api/v1/integrations/views/late', { query: '#/jobs', shared: false }),
  'a new key': () => asUser('POST', '/api/v1/integrations/api-keys', { name: 'late' }),
  'settings of the company': () => called(() => admin().updateCompany({ id: frozen.id, name: 'Another' })),
};
const visits: string[] = [];
/** Visits without a technician. */
const unassigned: string[] = [];
/** Service requests that were acknowledged while the company was being frozen. */
let during = 0;

const answerOf = ({ status, headers, body }: { status: number; headers: Headers; body: any }): Sent => ({
  status,
  retryAfter: headers.get('retry-after'),
  message: body.error?.message ?? '',
});

async function asUser(method: string, path: string, body: unknown): Promise<Sent> {
  const headers = { authorization: `Bearer ${system.userToken(frozen)}`, 'content-type': 'application/json' };
  const response = await fetch(`${system.baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
  return answerOf({ status: response.status, headers: response.headers, body: await response.json() });
}

async function called(work: () => Promise<unknown>): Promise<Sent> {
  return work().then(
    () => ({ status: 200, retryAfter: null, message: '' }),
    (error: { status?: number; retryAfterSeconds?: number; message: string }) => ({
      status: error.status ?? 500,
      retryAfter: String(error.retryAfterSeconds),
      message: error.message,
    }),
  );
}

beforeAll(async () => {
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  await system.startDispatcher();
  desk = await dispatchDesk(system);
  [frozen, other] = [desk.company, await system.createCompany()];
  for (let n = 0; n < 30; n++) (n < 20 ? visits : unassigned).push((await desk.visit())['id'] as string);
  await fill(system, receiver, frozen, 'Quillfeather', 3);
  await fill(system, receiver, other, 'Oldcastle', 4);
}, 3 * MINUTES);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
}, MINUTES);

test('refuses an unknown and a deleted company, and to unfreeze one that is not frozen', async () => {
  expect(await command('company', 'freeze', randomUUID())).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no company') });
  expect(await command('company', 'unfreeze', frozen.id)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not frozen') });
  const gone = await system.createCompany();
  await admin().deleteCompany({ id: gone.id, name: 'Test Heating & Air' });
  await expect(admin().freezeCompany({ id: gone.id })).rejects.toMatchObject({ status: 409, message: expect.stringContaining('deleted') });
});

test(
  'stores all that it acknowledges while it freezes a company, and nothing afterwards',
  async () => {
    const acknowledged = { requests: [] as string[], accounts: [] as string[], assignments: [] as string[] };
    let goesOn = true;
    const writer = async (write: () => Promise<void>): Promise<number> => {
      for (let refused = 0; ; ) {
        if (!goesOn) return refused;
        await write().catch((error: { status?: number }) => {
          if (error.status !== 503) throw error;
          refused += 1;
        });
      }
    };
    const intake = system.channel('scheduling').client(IntakeServiceService);
    const writers = [
      writer(async () => {
        const id = randomUUID();
        await intake.recordServiceRequest({ company_id: frozen.id, id, channel: ServiceRequestChannel.PHONE, summary: 'during' });
        acknowledged.requests.push(id);
      }),
      writer(async () => {
        const account = line.account();
        await system.importRecords(frozen, 'accounts', [account]);
        acknowledged.accounts.push(account['id'] as string);
      }),
      writer(async () => {
        const visit = await desk.read(visits[(acknowledged.assignments.length + 1) % visits.length]!);
        const technician = desk.technicians[Math.floor(acknowledged.assignments.length / visits.length) % 3];
        const { status, headers } = await desk.add(visit, { team_member_id: technician });
        if (status === 503) throw Object.assign(new Error('refused'), { status });
        expect(status).toBeLessThan(500);
        if (status === 201) acknowledged.assignments.push(headers.get('location')!.split('/').at(-1)!);
      }),
    ];
    await until(
      'some writes',
      () => Math.min(...Object.values(acknowledged).map(({ length }) => length)),
      (least) => least > 3,
    );
    expect(await command('company', 'freeze', frozen.id.toUpperCase())).toMatchObject({ code: 0, stderr: '' });
    const rows = await rowsOf(frozen);
    goesOn = false;
    expect(Math.min(...(await Promise.all(writers)))).toBeGreaterThan(0);
    during = acknowledged.requests.length;
    for (const [table, ids] of [
      ['service_requests', acknowledged.requests],
      ['accounts', acknowledged.accounts],
      ['job_assignments', acknowledged.assignments],
    ] as const) {
      const { rows: stored } = await sql(
        `select count(*)::int as count from scheduling.${table} where company_id = $1 and id = any($2::uuid[])`,
        frozen.id,
        ids,
      );
      expect([table, stored[0]!['count']]).toEqual([table, ids.length]);
    }
    expect(await rowsOf(frozen)).toEqual(rows);
    expect(await command('company', 'freeze', frozen.id)).toMatchObject({ code: 1, stderr: expect.stringContaining('has been frozen since') });
    const { companies } = await admin().listCompanies({});
    expect(companies.map(({ id, frozen_at }) => [id, frozen_at != null])).toEqual(
      expect.arrayContaining([
        [frozen.id, true],
        [other.id, false],
      ]),
    );
    const { rows: entries } = await sql(
      `select action, actor_kind from integrations.audit_events where company_id = $1 and action like 'company.f%'`,
      frozen.id,
    );
    expect(entries).toEqual([{ action: 'company.frozen', actor_kind: 'OPERATOR' }]);
  },
  2 * MINUTES,
);

test.each(Object.keys(WRITES))('refuses %s with 503, the reason and when to try again', async (name) => {
  const { status, retryAfter, message } = await WRITES[name]!();
  expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '5' });
  expect(message).toContain('The company is frozen');
});

test('a dry run of a deletion and of an erasure says to unfreeze the company first', async () => {
  const { rows } = await sql('select id from scheduling.accounts where company_id = $1 limit 1', frozen.id);
  for (const args of [
    ['company', 'delete', frozen.id],
    ['person', 'erase', 'accounts', rows[0]!['id'] as string, '--company', frozen.id],
  ]) {
    expect((await operatorsText(system, args)).stdout).toContain(`First run, unless it is being moved:\n  truckroll company unfreeze ${frozen.id}\n`);
    expect(JSON.parse((await command(...args)).stdout)).toMatchObject({ frozen_at: expect.stringMatching(/^20.*Z$/) });
  }
});

test('answers reads', async () => {
  for (const { path } of resources) {
    const { status } = await system.get(frozen, `/v1/${path}?limit=1`);
    expect([path, status]).toEqual([path, 200]);
  }
  expect((await system.get(frozen, '/v1/company')).status).toBe(200);
});

test.each([
  ['scheduling', `update jobs set projection = projection where company_id = $1`],
  ['scheduling', `delete from accounts where company_id = $1`],
  ['billing', `insert into names (company_id, kind, id, name, version) values ($1, 'accounts', $1, 'x', 1)`],
  ['reporting', `delete from names where company_id = $1`],
  ['integrations', `update users set active = active where company_id = $1`],
  // The release before knows no company of it.
  [
    'integrations',
    `insert into webhook_queue (delivery_id, day, endpoint_id, subject, sequence, due_at)
      select gen_random_uuid(), current_date, id, 'x', 1, now() from webhook_endpoints where company_id = $1`,
  ],
])('refuses a statement of an older replica of %s: %s', async (schema, text) => {
  const session = await createSession({ url: system.serviceEnvironment['DATABASE_URL']!, schema });
  await expect(session.query({ text, values: [frozen.id] })).rejects.toMatchObject({ status: 503, cause: { code: '55P03', constraint: 'frozen' } });
  await session.close();
});

test(
  'other companies’ webhooks and names go on, and not a row of the frozen one changes',
  async () => {
    const rows = await rowsOf(frozen);
    const received = receiver.received.length;
    await request(system, other, 'of the other');
    await until(
      'the webhook',
      () => receiver.received.length,
      (count) => count > received,
    );
    const account: line.Line = { ...line.account(), name: 'Marlowe Thistlewood' };
    expect((await system.importRecords(other, 'accounts', [account])).problems).toEqual([]);
    for (const schema of ['billing', 'reporting']) {
      await until(
        `the name in ${schema}`,
        async () => (await sql(`select name from ${schema}.names where company_id = $1 and id = $2`, other.id, account['id'])).rows[0]?.['name'],
        (name) => name === account['name'],
      );
    }
    expect(await rowsOf(frozen)).toEqual(rows);
  },
  2 * MINUTES,
);

test(
  'afterwards everything is accepted, and what was due is sent',
  async () => {
    expect(await command('company', 'unfreeze', frozen.id)).toMatchObject({ code: 0, stderr: '' });
    expect((await sql(`select tgname from pg_trigger where tgname like 'frozen%'`)).rows).toEqual([]);
    for (const schema of owners) expect((await sql(`select company_id from ${schema}.frozen_companies`)).rows).toEqual([]);
    for (const [name, write] of Object.entries(WRITES)) expect([name, (await write()).status < 300]).toEqual([name, true]);
    unassigned.pop();
    await until(
      'a webhook for each of them',
      () => webhooksOf('"during"'),
      (count) => count >= during,
    );
    const { rows: entries } = await sql(
      `select count(*)::int as count from integrations.audit_events where company_id = $1 and action = 'company.unfrozen'`,
      frozen.id,
    );
    expect(entries).toEqual([{ count: 1 }]);
  },
  2 * MINUTES,
);

test.each([0, 1, 2, 3, 4])(
  'continues after %i services had frozen the company and the next was killed, and so does the end',
  async (done) => {
    const company_id = frozen.id;
    await admin().freezeCompany({ id: company_id });
    for (const owner of ORDER.slice(0, done)) {
      await until(
        owner,
        async () => (await freezes(owner).freeze({ company_id })).state,
        (state) => state?.closed === true,
      );
    }
    const next = ORDER[Math.min(done, 3)]!;
    if (done < 4) {
      // It has begun to refuse changes, in a part of its tables.
      await sql(
        `insert into ${next}.frozen_companies (company_id, passes, closed_at) values ($1, '[]', now())
        on conflict (company_id) do update set passes = '[]', closed_at = now()`,
        company_id,
      );
      await restart(next);
      // The operator's first command may still run.
      const both = await Promise.all([command('company', 'freeze', company_id), command('company', 'freeze', company_id)]);
      expect(both.map(({ code, stderr }) => `${code} ${stderr.includes('has been frozen since') ? 'has been frozen since' : stderr}`.trim())).toEqual([
        expect.stringMatching(/^(0|1 has been frozen since)$/),
        expect.stringMatching(/^(0|1 has been frozen since)$/),
      ]);
    }
    for (const [name, write] of Object.entries(WRITES)) expect([name, (await write()).status]).toEqual([name, 503]);
    for (const owner of ORDER.toReversed().slice(0, done)) await freezes(owner).unfreeze({ company_id });
    await restart(next);
    expect(await command('company', 'unfreeze', company_id)).toMatchObject({ code: 0, stderr: '' });
    expect((await sql(`select tgname from pg_trigger where tgname like 'frozen%'`)).rows).toEqual([]);
    expect(await called(() => request(system, frozen, 'again'))).toMatchObject({ status: 200 });
  },
  2 * MINUTES,
);
