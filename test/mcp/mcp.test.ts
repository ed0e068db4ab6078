// What assistants do by /mcp, against the whole system (decisions §18).
import { KeyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { until } from '@truckroll/testing/until';
import { call, post, tokensOf, type Caller, type ToolResult } from '../../gateway/test/support/mcp.ts';
import * as line from '../../services/scheduling/test/records.ts';
import { fresh } from '../reports/ask.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { HOSTILE, ORDERS } from './hostile.ts';

const PUBLIC = 'https://api.example.com';
const TIMES = { starts_at: '2026-03-02T15:00:00Z', ends_at: '2026-03-02T16:00:00Z' };

let system: System;
let desk: DispatchDesk;
let other: TestCompany;

beforeAll(async () => {
  system = await startSystem({ gatewaySettings: { MCP_WRITES: 'true', PUBLIC_URL: PUBLIC } });
  desk = await dispatchDesk(system);
  other = await system.createCompany();
}, 120_000);
afterAll(() => system.stop());

const as = (company: TestCompany = desk.company): Caller => ({ url: system.baseUrl, key: company.apiKey });

async function use(name: string, given: object, caller = as()): Promise<ToolResult> {
  const result = await call(caller, name, given);
  expect(tokensOf(JSON.stringify(result.content))).toBeLessThanOrEqual(4000);
  return result;
}

/** The token of a preview of `schedule`. */
async function previewed(given: object): Promise<string> {
  const { text, isError } = await use('schedule', given);
  expect([isError, text]).toEqual([false, expect.stringMatching(/^Preview, nothing is changed yet/)]);
  return /within 5 minutes: (\S+)/.exec(text)?.[1] as string;
}

const addition = (visit: Record<string, any>) => ({ action: 'add', appointment_id: visit['id'], team_member_id: desk.technicians[0], ...TIMES });

describe('reading', () => {
  test('get answers a record with those that it refers to and those that refer to it', async () => {
    const visit = await desk.visit();
    const { text, rows } = await use('get', { kind: 'jobs', id: desk.job['id'], related: ['account', 'location', 'job-appointments', 'wheels'] });
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([desk.job['id'], desk.account['id'], desk.location['id'], visit['id']]));
    expect(text).toContain('wheels is not related to this record; kinds that are: ');
  });

  test('find answers every record once over pages that fit, with the requested fields', async () => {
    const company = await system.createCompany();
    const accounts = Array.from({ length: 60 }, (_, i) => line.account({ name: `Account ${i} ${'of many words '.repeat(20)}` }));
    expect((await system.importRecords(company, 'accounts', accounts)).problems).toEqual([]);
    const found: any[] = [];
    for (let cursor: string | undefined, pages = 1; ; pages++) {
      const { rows, text } = await use('find', { kind: 'accounts', fields: ['name'], limit: 40, ...(cursor !== undefined && { cursor }) }, as(company));
      found.push(...rows);
      cursor = /cursor (\S+)/.exec(text)?.[1];
      if (cursor !== undefined) continue;
      expect(pages).toBeGreaterThan(2);
      break;
    }
    const byId = (a: any, b: any) => (a.id < b.id ? -1 : 1);
    expect(found.toSorted(byId)).toEqual(accounts.map(({ id, name }) => ({ id, name })).toSorted(byId));
  });

  test('a record that does not fit names the fields that are left out, and get answers them', async () => {
    const account = line.account({ tags: Array.from({ length: 200 }, (_, i) => line.ref(undefined, `tag ${i} of a long list`)) });
    await desk.store('accounts', account);
    const { rows } = await use('get', { kind: 'accounts', id: account['id'] });
    expect(rows).toEqual([expect.objectContaining({ id: account['id'], name: account['name'], _left_out: ['tags'] })]);
  });

  test('report answers dollars, and links its rows as CSV', async () => {
    await fresh(system, desk.company);
    const { rows, content } = await use('report', { name: 'invoice-activity', parameters: { start_date: '2026-01-01', end_date: '2026-04-01' } });
    expect(rows).toHaveLength(3);
    expect(rows[0]).not.toHaveProperty('invoiced_cents');
    expect(Object.values(rows[0])).toContain('0.00');
    expect(content[1]).toMatchObject({ type: 'resource_link', mimeType: 'text/csv', uri: expect.stringContaining(`${PUBLIC}/v1/reports/invoice-activity?`) });
    const path = content[1].uri.slice(PUBLIC.length);
    const csv = await fetch(system.baseUrl + path, { headers: { authorization: `Bearer ${desk.company.apiKey}`, accept: 'text/csv' } });
    expect([csv.status, (await csv.text()).trim().split('\r\n').length]).toEqual([200, 4]);
  });

  test('changes goes on from its cursor, also after its last page', async () => {
    const { text } = await use('changes', { kinds: ['accounts'], cursor: 'now' });
    const cursor = /For later changes: call again with the same arguments and cursor (\S+)/.exec(text)?.[1];
    const account = line.account();
    await desk.store('accounts', account);
    // Changes just before the cursor may come again.
    await until('the change to be listed', async () => {
      const { rows } = await use('changes', { kinds: ['accounts'], cursor });
      return rows.some(({ id, change, record }) => id === account['id'] && change === 'UPSERTED' && record.name === account['name']);
    });
  });
});

describe('schedule', () => {
  test('adds a technician by the token of a preview, once, and removes them', async () => {
    const visit = await desk.visit();
    const token = await previewed(addition(visit));
    expect(await desk.read(visit['id'])).toEqual(visit);
    const done = await Promise.all([1, 2].map(() => use('schedule', { token })));
    expect(done.map(({ text }) => text.replace(/\n.*/s, '')).toSorted()).toEqual(['Done.', 'Done. This token had done it before, and only once.']);
    const { assignments } = await desk.read(visit['id']);
    expect(assignments).toEqual([expect.objectContaining({ team_member: expect.objectContaining({ id: desk.technicians[0] }), ...TIMES })]);

    const removal = await previewed({ action: 'remove', assignment_id: assignments[0].id });
    for (const _ of [1, 2]) expect((await use('schedule', { token: removal })).text).toMatch(/^Done\./);
    expect((await desk.read(visit['id']))['assignments']).toEqual([]);
  });

  test('changes nothing by a token whose visit has changed since, or of another caller, or that has expired', async () => {
    const visit = await desk.visit();
    const token = await previewed(addition(visit));
    expect(await use('schedule', { token }, as(other))).toMatchObject({ isError: true, text: expect.stringContaining('not one of this caller') });
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 301_000);
    try {
      expect(await use('schedule', { token })).toMatchObject({ isError: true, text: expect.stringContaining('has expired') });
    } finally {
      now.mockRestore();
    }
    const { body } = await desk.add(visit, { team_member_id: desk.technicians[1] });
    expect(await use('schedule', { token })).toMatchObject({ isError: true, text: expect.stringMatching(/^STALE_REVISION: .*Nothing was done\./) });
    expect(await desk.read(visit['id'])).toEqual(body['data']);
  });
});

test('hides the records of other companies', async () => {
  const { isError, text } = await use('get', { kind: 'jobs', id: desk.job['id'] }, as(other));
  expect([isError, text]).toEqual([true, expect.stringMatching(/^NOT_FOUND/)]);
});

test('answers 401 after a key was revoked', async () => {
  const keys = system.channel('integrations').client(KeyAdminServiceService);
  const { value, key } = await keys.createKey({ company_id: other.id, user_id: other.userId, name: 'assistant', limits: null });
  const caller = { url: system.baseUrl, key: value };
  expect((await use('find', { kind: 'accounts' }, caller)).isError).toBe(false);
  await keys.revokeKey({ id: key!.id });
  await until(
    'the gateway to refuse the key',
    async () => (await post(caller, 'tools/call', { name: 'find', arguments: { kind: 'accounts' } })).status === 401,
  );
});

test('says when to try again while the owner of records is away, and completes the change with the same token', async () => {
  const visit = await desk.visit();
  const token = await previewed(addition(visit));
  await system.stopService('scheduling');
  try {
    expect(await use('find', { kind: 'jobs' })).toMatchObject({ isError: true, text: expect.stringMatching(/Nothing was done\. Try again in \d+ seconds\./) });
    expect(await use('schedule', { token })).toMatchObject({ isError: true, text: expect.stringMatching(/not known.*Try again in \d+ seconds\./) });
  } finally {
    await system.startService('scheduling');
  }
  await until('the change to be made', async () => (await use('schedule', { token })).text.startsWith('Done.'));
  expect((await desk.read(visit['id']))['assignments']).toHaveLength(1);
});

test('answers 50 hostile texts of records as data, unchanged, inside a fence that they cannot close', async () => {
  const company = await system.createCompany();
  const before = (await post(as(company), 'tools/list')).text;
  const accounts = HOSTILE.map((name) => line.account({ name }));
  expect([HOSTILE.length, (await system.importRecords(company, 'accounts', accounts)).problems]).toEqual([50, []]);
  const names: string[] = [];
  for (let cursor: string | undefined; names.length < HOSTILE.length; ) {
    const { text, rows, isError } = await use('find', { kind: 'accounts', fields: ['name'], ...(cursor !== undefined && { cursor }) }, as(company));
    expect(isError).toBe(false);
    // No record can write the character that would end the data.
    const [outside, inside] = text.split('\n<data>\n') as [string, string];
    expect(inside.replace(/\n<\/data>$/, '')).not.toContain('<');
    for (const order of ORDERS) expect(outside).not.toContain(order);
    names.push(...rows.map((row) => row.name as string));
    cursor = /cursor (\S+)/.exec(outside)?.[1];
  }
  expect(names.toSorted()).toEqual(HOSTILE.toSorted());
  expect((await post(as(company), 'tools/list')).text).toBe(before);
});
