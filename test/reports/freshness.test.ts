// Reports during changes, dead letters and outages: the figures are never wrong, and as_of says up to when they are complete.
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import { handled } from '@truckroll/process';
import { until } from '@truckroll/testing/until';
import type { Everything, Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fresh } from './ask.ts';

const COLLECTIONS = 'collections?start_date=2026-03-01&end_date=2026-03-10&bucket=day';
const JOBS = 'job-profitability?start_date=2020-01-01&end_date=2030-01-01&bucket=year&include_excluded_job_types=true';
let system: System;
let company: TestCompany;
let lines: Everything;
/** On the evening of 4 March in Chicago. */
let payment: Json;

beforeAll(async () => {
  system = await startSystem({ wired: true });
  company = await system.createCompany('America/Chicago');
  lines = await system.importDemo(company, 5, 30, '2025-11-20T18:00:00Z');
  payment = await pay(company, '4f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c', 1000);
  await fresh(system, company);
}, 120_000);
afterAll(() => system.stop());

async function pay(of: TestCompany, id: string, amount_cents: number): Promise<Json> {
  const record = { ...lines['payments']![0], id, status: 'PAID', amount_cents, occurred_at: '2026-03-05T03:00:00Z', invoice_allocations: [] };
  expect((await system.importRecords(of, 'payments', [record])).problems).toEqual([]);
  return record;
}

const report = (query: string, of = company): ReturnType<System['get']> => system.get(of, `/v1/reports/${query}`);

function received({ data }: Json): Record<string, number> {
  return Object.fromEntries(data.filter((row: Json) => row['payment_count'] > 0).map((row: Json) => [row['period_start'], row['received_cents']]));
}

/** Runs work while a lock keeps reporting from changing something; resolves to the work's result after the lock is released. */
async function holding<T>(statement: string, work: () => Promise<T>): Promise<T> {
  const session = await system.database.session();
  try {
    await session.query({ text: 'begin' });
    await session.query({ text: statement });
    return await work();
  } finally {
    await session.close();
  }
}
const companysLock = (id: string, owner = 'reporting'): string => `select pg_advisory_xact_lock(hashtextextended('records of ${id} in ${owner}', 0))`;
const database = (text: string): Promise<unknown> => system.database.query({ text, values: [company.id] });

test('shows changes of an operator’s SQL at once, and of a replica that applies the next event', async () => {
  // Names the current rules' version: otherwise the payment would soon be projected again.
  await database(`with rules as materialized (select set_config('truckroll.projection', '32767', true))
    update reporting.payments set amount_cents = 2500 from rules where company_id = $1 and id = '${payment['id']}'`);
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 2500 });
  await pay(company, payment['id'], 1001);
  await fresh(system, company);
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 1001 });
});

test('never waits for sums, and has the figures of a new time zone as soon as it names it', async () => {
  await holding('select from reporting.summed for update', async () => {
    await system.setTimezone(company, 'Pacific/Kiritimati');
    const { body } = await until(
      'a report in the new time zone',
      () => report(COLLECTIONS),
      ({ body }) => {
        expect(received(body)).toEqual({ [body.meta.timezone === 'America/Chicago' ? '2026-03-04' : '2026-03-05']: 1001 });
        return body.meta.timezone === 'Pacific/Kiritimati';
      },
    );
    expect(received(body)).toEqual({ '2026-03-05': 1001 });
  });
  await fresh(system, company, { timezone: 'Pacific/Kiritimati', costing: true, verifiedOnly: false });
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-05': 1001 });
  await system.setTimezone(company, 'America/Chicago');
  await fresh(system, company, { timezone: 'America/Chicago', costing: true, verifiedOnly: false });
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 1001 });
});

test('leaves jobs out by the company’s settings, and includes them again', async () => {
  const counts = async (settings: { costing_enabled: boolean; verified_only: boolean }): Promise<number> => {
    await system
      .channel('integrations')
      .client(CompanyAdminServiceService)
      .updateCompany({ id: company.id, ...settings });
    await fresh(system, company, { timezone: 'America/Chicago', costing: settings.costing_enabled, verifiedOnly: settings.verified_only });
    const { body } = await report(JOBS);
    expect(body.report).toMatchObject(settings);
    return body.data.reduce((sum: number, { job_count }: Json) => sum + job_count, 0);
  };
  const tracked = lines['job-financials']!.filter(({ costing }) => costing.tracking_status === 'TRACKED');
  const verified = tracked.filter(({ costing }) => costing.verification_status === 'VERIFIED');
  expect(verified.length).toBeGreaterThan(0);
  expect(await counts({ costing_enabled: true, verified_only: true })).toBe(verified.length);
  expect(await counts({ costing_enabled: false, verified_only: false })).toBe(0);
  expect(await counts({ costing_enabled: true, verified_only: false })).toBe(tracked.length);
});

test('holds back as_of while an event of the company is a dead letter, and for no other company', async () => {
  const other = await system.createCompany('America/Chicago');
  await system.database.query({ text: 'alter table reporting.payments add constraint refused check (amount_cents <> 666)' });
  await pay(company, payment['id'], 666);
  const committed = Date.now();
  await until(
    'a dead letter',
    () => system.database.query({ text: 'select from reporting.parked_event' }),
    ({ rowCount }) => rowCount > 0,
  );
  await fresh(system, other);
  const { status, body } = await report(COLLECTIONS);
  expect(status).toBe(200);
  expect(received(body)).toEqual({ '2026-03-04': 1001 });
  const held = Date.parse(body.report.as_of);
  expect(held).toBeLessThanOrEqual(committed);
  await fresh(system, other);
  expect(Date.parse((await report(COLLECTIONS)).body.report.as_of)).toBe(held);

  await system.database.query({ text: 'alter table reporting.payments drop constraint refused' });
  await system.channel('reporting').client(ParkingServiceService).retryParkedEvents({});
  await fresh(system, company);
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 666 });
});

test('advances as_of of other companies while one company’s records are being published again', async () => {
  const other = await system.createCompany('America/Chicago');
  const unfinished = async (): Promise<boolean> => (await system.database.query({ text: 'select from billing.catch_up where not done' })).rowCount > 0;
  const publish = async (): Promise<void> => {
    const paths = new Set<string>();
    for await (const { path, done } of system.channel('billing').client(PublishingServiceService).publish({})) if (done) paths.add(path);
    expect(paths).toContain('payments');
  };
  let publishing: Promise<void> | undefined;
  await holding(companysLock(company.id, 'billing'), async () => {
    publishing = handled(publish());
    await until('an unfinished publication', unfinished);
    await pay(other, '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c', 300);
    await fresh(system, other);
    expect(received((await report(COLLECTIONS, other)).body)).toEqual({ '2026-03-04': 300 });
    expect(await unfinished()).toBe(true);
  });
  await publishing;
});

test.each(['billing', 'scheduling'] as const)('answers while %s is down, with an as_of that stops and advances again afterwards', async (owner) => {
  await system.stopService(owner);
  const stopped = Date.now();
  const other = owner === 'billing' ? 'scheduling' : 'billing';
  const applied = { text: 'select at from reporting.applied_until where source = $1', values: [`/truckroll/${other}`] };
  await until(
    `events of ${other} after ${stopped}`,
    () => system.database.query<{ at: number }>(applied),
    ({ rows }) => (rows[0]?.at ?? 0) / 1000 > stopped,
  );
  const { status, body } = await report(COLLECTIONS);
  expect(status).toBe(200);
  expect(received(body)).toEqual({ '2026-03-04': 666 });
  expect(Date.parse(body.report.as_of)).toBeLessThanOrEqual(stopped);

  await system.startService(owner);
  await fresh(system, company);
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 666 });
});

test('answers while Kafka is down, with an as_of that stops and advances again afterwards', async () => {
  await system.wires.kafka!.cut();
  const away = Date.now();
  // Committed now, but published later.
  await pay(company, payment['id'], 777);
  const before = (await report(COLLECTIONS)).body;
  expect((await system.database.query({ text: 'select from billing.outbox' })).rowCount).toBeGreaterThan(0);
  const { status, body } = await report(COLLECTIONS);
  expect(status).toBe(200);
  expect(received(body)).toEqual({ '2026-03-04': 666 });
  expect(Date.parse(body.report.as_of)).toBeLessThanOrEqual(away);
  expect(body.report.as_of).toBe(before.report.as_of);

  await system.wires.kafka!.restore();
  await fresh(system, company);
  expect(received((await report(COLLECTIONS)).body)).toEqual({ '2026-03-04': 777 });
});
