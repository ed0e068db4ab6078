import { generateCompany } from '@truckroll/demo-company';
import { until } from '@truckroll/testing/until';
import { startSystem, type System, type TestCompany } from './support/system.ts';

let system: System;
let company: TestCompany;
const TIMEZONE = 'America/Chicago';
const WANTED = ['team-members', 'accounts', 'invoices'];

beforeAll(async () => {
  system = await startSystem({ wired: true });
  company = await system.createCompany(TIMEZONE);
  for (const { path, records } of generateCompany({ seed: 3, size: 60, timezone: TIMEZONE, until: '2026-11-20T18:00:00Z' })) {
    if (WANTED.includes(path)) await system.importRecords(company, path, records);
  }
}, 120_000);

afterAll(() => system.stop());

const read = (path = '/v1/invoices?limit=5') => system.get(company, path);

test('answers 503 with Retry-After while PostgreSQL is down, and recovers by itself', async () => {
  expect((await read()).status).toBe(200);
  await system.wires.postgres!.cut();
  const away = await read();
  expect([away.status, away.body.error.code]).toEqual([503, 'INTERNAL_ERROR']);
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(JSON.stringify(away.body)).not.toMatch(/ECONN|postgres|127\.0\.0\.1|select/i);
  await system.wires.postgres!.restore();
  await until('reads to work again', read, ({ status }) => status === 200);
});

test('serves reads while Redis is down, counting limits locally', async () => {
  expect((await read()).status).toBe(200);
  await system.wires.redis!.cut();
  for (let n = 0; n < 20; n++) {
    const { status, headers } = await read();
    expect(status).toBe(200);
    expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/);
  }
  await system.wires.redis!.restore();
  await until('reads to work again', read, ({ status }) => status === 200);
});

test('rejects an import as a whole while PostgreSQL is down, and stores all of it afterwards', async () => {
  const line = { ...(await read('/v1/accounts?limit=1')).body.data[0], name: 'After the outage' };
  await system.wires.postgres!.cut();
  await expect(system.importRecords(company, 'accounts', [line])).rejects.toMatchObject({ status: 503 });
  await system.wires.postgres!.restore();
  await until('an import to work again', () => system.importRecords(company, 'accounts', [line]).catch(() => undefined));
  expect((await read(`/v1/accounts/${line.id}`)).body.data.name).toBe('After the outage');
});

test('reads other services’ records while one service is down, and answers 503 for that service’s records', async () => {
  await system.stopService('reporting');
  expect((await read()).status).toBe(200);
  const away = await read('/v1/job-financials');
  expect([away.status, away.headers.get('retry-after') !== null]).toEqual([503, true]);
});

test('refuses malformed lines with their numbers and stores the others', async () => {
  const [good] = (await read('/v1/accounts?limit=1')).body.data;
  const lines = ['{"id": 1', JSON.stringify({ ...good, name: 'Good line' }), JSON.stringify({ ...good, type: 'ROBOT', surprise: true }), '"text"'];
  const report = await system.importRecords(company, 'accounts', lines);
  expect(report.problems.map(({ line, field, code }) => [line, field, code])).toEqual([
    [1, '(line)', 'INVALID_FORMAT'],
    [3, 'type', 'INVALID_ENUM_VALUE'],
    [3, 'surprise', 'UNKNOWN_FIELD'],
    [4, '(root)', 'INVALID_FORMAT'],
  ]);
  expect((await read(`/v1/accounts/${good.id}`)).body.data.name).toBe('Good line');
});
