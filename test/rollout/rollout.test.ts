// A later release with additions runs next to the current one on existing data.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { DatabaseSession } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { until } from '@truckroll/testing/until';
import { Webhook } from 'standardwebhooks';
import * as line from '../../services/scheduling/test/records.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fresh } from '../reports/ask.ts';
import { ADDED_TYPE, addDimension, addEventType, addFilter } from './changes.ts';
import { startNewer, type Newer } from './newer.ts';
import { addRecord } from './record.ts';
import { Tree } from './tree.ts';

const MINUTES = 60_000;
let receiver: Receiver;
let system: System;
let tree: Tree;
let company: TestCompany;
let newer: Newer;
let held: DatabaseSession;
let heldReports: DatabaseSession;

const DEMO_DEPOSITS = `import { generateCompany } from '@truckroll/demo-company';
const files = generateCompany({ seed: 1, size: 20, timezone: 'America/Chicago', until: '2026-03-10T16:00:00Z' });
console.log(JSON.stringify([...(files.find(({ path }) => path === 'deposits')?.records ?? [])]));
`;

const location = (property_type: string): line.Line => line.location({ property_type });
const payer = line.ref();
const places = [1, 2, 3].map(() => randomUUID());
const invoice = (i: number): line.Line => ({
  id: randomUUID(),
  number: `INV-${i}`,
  status: 'OPEN',
  account: payer,
  location_id: places[i % places.length],
  created_at: '2026-03-01T15:00:00Z',
  updated_at: '2026-03-01T15:00:00Z',
  issued_at: '2026-03-01T15:00:00Z',
  currency: 'USD',
  pricing_multiplier: 1,
  line_items: [],
  discounts: [],
  tax: { name: 'None', rate: 0, rounding: 'round' },
  amounts: { subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
});
const invoices = Array.from({ length: 40 }, (_, i) => invoice(i));
const houses = Array.from({ length: 250 }, (_, i) => location(i % 2 === 0 ? 'House' : 'Shop'));

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  company = await system.createCompany();
  await system.importRecords(company, 'locations', houses);
  await system.importRecords(company, 'invoices', invoices);
  await fresh(system, company);
  tree = new Tree();
  addFilter(tree);
  addDimension(tree);
  addEventType(tree);
  addRecord(tree);
  tree.generate();
  // Holds back projecting and summing the company's records, as a running import would. Nothing projects while a transaction from before the
  // announcement is open, such as one of the older reporting that waits for this lock, so that is taken after it.
  held = await hold('scheduling');
  newer = await startNewer(system, tree, async () => void (heldReports = await hold('reporting')));
}, 5 * MINUTES);

afterAll(async () => {
  await Promise.all([held?.close(), heldReports?.close()]);
  // Stopped before the newer services, which share its consumer groups: kafkajs leaves connections open when a consumer leaves a rebalancing group.
  await system.stop();
  await newer?.stop();
  await receiver.close();
  tree?.remove();
});

async function hold(service: string): Promise<DatabaseSession> {
  const session = await system.database.session();
  await session.query({ text: `select pg_advisory_lock(hashtextextended('records of ' || $1 || ' in ' || $2, 0))`, values: [company.id, service] });
  return session;
}

async function get(path: string): Promise<{ status: number; retryAfter: string | null; body: any }> {
  const response = await fetch(`${newer.gateway}${path}`, { headers: { authorization: `Bearer ${company.apiKey}` } });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
}

async function ofType(type: string): Promise<string[] | { refused: string }> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, retryAfter, body } = await get(
      `/v1/locations?limit=100&property_type=${type}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    if (status === 503) {
      expect(Number(retryAfter)).toBeGreaterThan(0);
      return { refused: body.error.message as string };
    }
    expect(status).toBe(200);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.pagination.next_cursor;
  }
  return ids.sort();
}

async function reproject(): Promise<number> {
  let renewed = 0;
  for await (const step of newer.scheduling.client(ProjectionServiceService).reproject({ path: 'locations' })) renewed = step.renewed;
  return renewed;
}

const idsOf = (type: string, records: readonly line.Line[]): string[] =>
  records
    .filter(({ property_type }) => property_type === type)
    .map(({ id }) => id as string)
    .sort();

test('adds a filter for old records that answers 503 until all of them are indexed, while other filters work', async () => {
  const refused = await ofType('House');
  expect(refused).toEqual({ refused: expect.stringMatching(/property_type is new here .*250 of the company's records/) });
  expect((await get('/v1/locations?limit=100&postal_code=78701')).body.data).toHaveLength(100);
  expect((await get('/v1/locations?limit=100')).status).toBe(200);
  await held.close();

  await reproject();
  expect(await ofType('House')).toEqual(idsOf('House', houses));
  expect(await ofType('Shop')).toEqual(idsOf('Shop', houses));
});

test('never answers incompletely while a replica of the previous release continues to write', async () => {
  const more: line.Line[] = [];
  for (let round = 0; round < 5; round += 1) {
    const record = { ...location('Barn'), id: randomUUID() };
    // The previous release does not know the column.
    expect((await system.importRecords(company, 'locations', [record])).created).toBe(1);
    more.push(record);
    const answer = await ofType('Barn');
    if (Array.isArray(answer)) expect(answer).toEqual(idsOf('Barn', more));
  }
  const moved = { ...houses[0]!, property_type: 'Barn', updated_at: '2026-03-05T15:00:00Z' };
  expect((await system.importRecords(company, 'locations', [moved])).changed).toBe(1);
  await reproject();
  expect(await ofType('Barn')).toEqual(idsOf('Barn', [...more, moved]));
  expect(await ofType('House')).toEqual(idsOf('House', houses.slice(1)));
});

test('leaves the previous release working: it reads and imports as before, and does not project', async () => {
  expect((await system.get(company, '/v1/locations?limit=100')).status).toBe(200);
  const older = system.channel('scheduling').client(ProjectionServiceService).reproject({ path: 'locations' });
  await expect(older[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 503 });
});

test('adds a record in three places: existing code imports, lists, filters, reads, describes and exports it', async () => {
  tree.write('test/deposits.ts', DEMO_DEPOSITS);
  // A demo company has such records too, ordered by the booking times of its jobs.
  const deposits = JSON.parse(await tree.finish('test/deposits.ts', [], {})) as { id: string; status: string; created_at: string }[];
  deposits.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  expect(new Set(deposits.map(({ status }) => status))).toEqual(new Set(['ACTIVE', 'CLOSED']));
  const lines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-record-'));
  const truckroll = (...args: string[]): Promise<string> =>
    tree.finish('tools/cli/src/main.ts', [...args, '--json'], { ...newer.operator, TRUCKROLL_API_KEY: company.apiKey });
  try {
    writeFileSync(join(folder, 'deposits.ndjson'), lines(deposits));
    expect(JSON.parse(await truckroll('import', join(folder, 'deposits.ndjson'), '--company', company.id))).toMatchObject({
      created: deposits.length,
      refused: 0,
    });
    expect((await get('/v1/deposits')).body.data).toEqual(deposits);
    expect((await get('/v1/deposits?status=ACTIVE')).body.data).toEqual(deposits.filter(({ status }) => status === 'ACTIVE'));
    expect((await get('/v1/deposits?status=SPENT')).body.error.details[0]).toMatchObject({
      field: 'status',
      message: expect.stringContaining('ACTIVE, CLOSED'),
    });
    expect((await get(`/v1/deposits/${deposits[1]!.id}`)).body.data).toEqual(deposits[1]);
    expect(Object.keys((await get('/openapi.json')).body.paths)).toEqual(expect.arrayContaining(['/v1/deposits', '/v1/deposits/{id}']));
    await truckroll('export', join(folder, 'books'), '--only', 'deposits');
    expect(readFileSync(join(folder, 'books', 'deposits.ndjson'), 'utf8')).toBe(lines(deposits));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a report group that the previous release lacks', () => {
  const REPORT = '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2027-01-01&bucket=year&limit=100';

  const countsOf = (records: readonly line.Line[]): [string, number][] =>
    Object.entries(Object.groupBy(records, ({ location_id }) => location_id as string))
      .map(([id, some]): [string, number] => [id, some!.length])
      .sort();
  const counts = (data: readonly any[]): [string | null, number][] => data.map(({ group, invoice_count }) => [group.value, invoice_count]);
  const counted = async (): Promise<number> => (await get(REPORT)).body.data[0].invoice_count;
  async function complete(): Promise<[string | null, number][]> {
    const { body } = await until(
      'the new group',
      () => get(`${REPORT}&group_by=location`),
      ({ status }) => status === 200,
      { atMostMs: 60_000 },
    );
    return counts(body.data);
  }

  test('answers 503 until old records are read again for it, while the report’s other groups are answered', async () => {
    const { status, retryAfter, body } = await get(`${REPORT}&group_by=location`);
    expect({ status, message: body.error.message }).toEqual({ status: 503, message: expect.stringContaining('location is new in this report') });
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(await counted()).toBe(invoices.length);
    expect(counts((await get(`${REPORT}&group_by=account`)).body.data)).toEqual([[payer.id, invoices.length]]);
    await heldReports.close();

    expect(await complete()).toEqual(countsOf(invoices));
  });

  test('includes records that a replica of the previous release stored without it', async () => {
    const more: line.Line[] = [];
    for (let round = 0; round < 10; round += 1) {
      more.push(invoice(round));
      await system.importRecords(company, 'invoices', more.slice(-1));
      const known = await counted();
      const { status, body } = await get(`${REPORT}&group_by=location`);
      if (status === 503) continue;
      expect(counts(body.data).filter(([id]) => id === null)).toEqual([]);
      expect(counts(body.data).reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThanOrEqual(known);
    }
    await until('all invoices in the report', counted, (count) => count === invoices.length + more.length);
    expect(await complete()).toEqual(countsOf([...invoices, ...more]));
  }, 150_000);
});

describe('an event type, and a field of another type, that the previous release does not know', () => {
  const HOOKS = '/api/v1/integrations/webhooks';
  const KNOWN = ['service_request.created', 'service_request.status_changed'];
  const [subject, later] = [randomUUID(), randomUUID()];
  let older: Service;
  let endpoint: { id: string; signingSecret: string };

  beforeAll(async () => {
    older = await system.startDispatcher();
    endpoint = (await call(system.baseUrl, 'POST', HOOKS, { name: 'Lead sync', url: receiver.url, eventTypes: KNOWN })).body.data;
  });

  async function call(baseUrl: string, method: string, path: string, body: object): Promise<{ status: number; body: any }> {
    const headers = { authorization: `Bearer ${system.userToken(company)}`, 'content-type': 'application/json' };
    const response = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }

  const deadLetters = () => system.channel('integrations').client(ParkingServiceService).listParkedEvents({ limit: 100 });
  const record = (id: string) =>
    newer.scheduling.client(IntakeServiceService).recordServiceRequest({ company_id: company.id, id, channel: 'SERVICE_REQUEST_CHANNEL_PHONE' } as never);
  const move = (id: string, status: string) =>
    newer.scheduling
      .client(IntakeServiceService)
      .changeServiceRequestStatus({ company_id: company.id, id, status: `SERVICE_REQUEST_STATUS_${status}` } as never);
  const arrived = () => receiver.received.map(({ body, headers }) => new Webhook(endpoint.signingSecret).verify(body, headers) as Record<string, any>);
  const contentOf = (events: readonly Record<string, any>[]) => events.map(({ type, sequence, data }) => [data.id, sequence, type]);

  test('waits as a dead letter while scheduling is newer than its dispatcher; later events of the subject do not wait', async () => {
    await record(subject);
    await move(subject, 'CONTACTED');
    await move(subject, 'CLOSED');
    await receiver.until(2);
    await until('two dead letters', deadLetters, ({ count }) => count === 2);
    expect(contentOf(arrived())).toEqual([
      [subject, 1, 'service_request.created'],
      [subject, 4, 'service_request.status_changed'],
    ]);
    expect((await deadLetters()).events.map(({ key, type, reason }) => [key, type, reason])).toEqual([
      [`${company.id}/${subject}`, 'service_request.status_changed', 'this release does not know #7'],
      [`${company.id}/${subject}`, ADDED_TYPE, 'this release does not know the type'],
    ]);
  });

  test('reaches endpoints that have subscribed since, complete, once and verified, when the dispatcher is upgraded', async () => {
    const eventTypes = [...KNOWN, ADDED_TYPE];
    expect(await call(system.baseUrl, 'PATCH', `${HOOKS}/${endpoint.id}`, { eventTypes })).toMatchObject({ status: 400 });
    expect(await call(newer.gateway, 'PATCH', `${HOOKS}/${endpoint.id}`, { eventTypes })).toMatchObject({ status: 200 });
    await older.destroy();
    await newer.startDispatcher();
    await receiver.until(4);
    expect((await deadLetters()).count).toBe(0);
    // A dispatcher that knows all types creates no dead letters.
    await record(later);
    await move(later, 'CONTACTED');
    await receiver.until(7);

    const events = arrived();
    expect(contentOf(events.slice(2))).toEqual([
      [subject, 2, 'service_request.status_changed'],
      [subject, 3, ADDED_TYPE],
      [later, 1, 'service_request.created'],
      [later, 2, 'service_request.status_changed'],
      [later, 3, ADDED_TYPE],
    ]);
    expect(events.filter(({ waited_seconds: waited }) => Number.isInteger(waited)).map(({ data }) => data.id)).toEqual([subject, later]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(7);
    expect((await deadLetters()).count).toBe(0);
  });
});
