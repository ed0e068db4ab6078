// Upgrading from the release without reports: both releases side by side for a while, and a start on the old release's data.
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { Database, type MigrationSet } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { Subscriber, createKafka, type Subscription } from '../../packages/outbox/src/index.ts';
import { byCompany, lockCompany } from '../../packages/record-store/src/index.ts';
import type { ReadModel, StateEvent } from '../../services/reporting/src/read-models/read-model.ts';
import { readModels } from '../../services/reporting/src/read-models/index.ts';
import { refreshFinancials } from '../../services/reporting/src/jobs/every-job.ts';
import { schema as reporting } from '../../services/reporting/src/schema.ts';
import { SCHEMAS } from '../support/components.ts';
import type { Everything } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { ask, fresh } from './ask.ts';
import { answerOf } from './oracle/answer.ts';
import type { Question } from './oracle/question.ts';
import { readRecords } from './oracle/records.ts';

const TIMEZONE = 'America/Chicago';
const SETTINGS = { timezone: TIMEZONE, costing: true, verifiedOnly: false };
const LAST: Readonly<Record<string, string>> = {
  integrations: '0005',
  scheduling: '0006',
  billing: '0001',
  reporting: '0001',
  'record-store': '0001',
  outbox: '0001',
};

const range = { start: '2024-01-01', end: '2027-01-01', bucket: 'month', filters: {}, includeExcluded: false } as const;
const QUESTIONS: Question[] = [
  { ...range, report: 'invoice-activity', groupBy: 'job_class' },
  { ...range, report: 'collections', groupBy: 'payment_method' },
  { ...range, report: 'job-profitability', groupBy: null, includeExcluded: true },
  { ...range, report: 'technician-participation-profitability', groupBy: 'team_member' },
];

let system: System;
let company: TestCompany;
let lines: Everything;

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany(TIMEZONE);
  lines = await system.importDemo(company, 9, 60);
  await fresh(system, company);
}, 120_000);
afterAll(() => system.stop());

async function addsUp(of: System): Promise<void> {
  const records = await readRecords(of, company, SETTINGS);
  for (const question of QUESTIONS) {
    const rows = await ask(of, company, question);
    expect(rows.length).toBeGreaterThan(0);
    expect({ question, rows }).toEqual({ question, rows: answerOf(question, records) });
  }
  const summed = { text: 'select from reporting.summed where company_id = $1 and due_before is null', values: [company.id] };
  await until(
    'sums of all reports',
    () => of.database.query(summed),
    ({ rowCount }) => rowCount === 4,
  );
  for await (const { built, differences } of of.channel('reporting').client(ReportingAdminServiceService).verifyReports({ company_id: company.id })) {
    expect({ built, differences }).toEqual({ built: true, differences: [] });
  }
}

/** Applies an event like that release, which did not maintain sums and whose connections do not announce that they do. */
function ofReleaseBefore(model: ReadModel, applied: () => void): Subscription {
  return {
    topic: model.topic,
    deduplicate: 'version',
    async apply(tx, events) {
      for (const [companyId, ofCompany] of byCompany(events)) {
        await lockCompany(tx, companyId);
        const stored = ofCompany.filter((event): event is typeof event & StateEvent => event.payload !== null);
        const gone = ofCompany.filter(({ payload }) => payload === null).map(({ key }) => key.slice(key.indexOf('/') + 1));
        const { jobs: now, before } = await model.store(tx, companyId, stored);
        const jobs = [...now, ...((await before) ?? []), ...((await model.remove?.(tx, companyId, gone)) ?? [])];
        await refreshFinancials(tx, companyId, [...new Set(jobs)]);
      }
      applied();
    },
  };
}

test('keeps sums correct while a replica of the previous release is in its consumer group, and advances as_of once that replica is gone', async () => {
  const { DATABASE_URL: url = '', KAFKA_BROKERS: brokers = '', KAFKA_PREFIX: kafkaPrefix = '' } = system.serviceEnvironment;
  const database = new Database({ url, schema: reporting.schema, settings: reporting.settings, maxConnections: 4 });
  let applied = 0;
  const known = readModels.filter(({ table }) => ['companies', 'jobs', 'assignments', 'invoices'].includes(table));
  const older = new Subscriber({
    database,
    log: silentLog,
    metrics: createMetrics('reporting'),
    group: 'reporting',
    kafka: createKafka('older', { kafkaBrokers: brokers.split(','), kafkaPrefix }, silentLog),
    subscriptions: known.map((model) => ofReleaseBefore(model, () => (applied += 1))),
  });
  await older.start();
  const changed = lines['invoices']!.map((line) => ({ ...line, status: line['status'] === 'OPEN' ? 'VOIDED' : line['status'] }));
  for (let round = 0; applied === 0; round += 1) {
    const summary = `Round ${round}`;
    await system.importRecords(
      company,
      'jobs',
      lines['jobs']!.map((line) => ({ ...line, summary, updated_at: `2026-11-21T00:00:${String(round % 60).padStart(2, '0')}Z` })),
    );
    await until(
      'an empty outbox',
      () => system.database.query({ text: 'select topic, key from scheduling.outbox' }),
      ({ rowCount }) => rowCount === 0,
    );
  }
  expect((await system.importRecords(company, 'invoices', changed)).changed).toBeGreaterThan(0);
  const voided = changed.filter(({ status }) => status === 'VOIDED').length;
  const voidedCopies = { text: `select from reporting.invoices where status = 'VOIDED'` };
  await until(
    `${voided} voided invoices`,
    () => system.database.query(voidedCopies),
    ({ rowCount }) => rowCount === voided,
  );
  await older.stop();
  await database.close();
  await fresh(system, company);
  await addsUp(system);
}, 120_000);

async function left(): Promise<TestDatabase> {
  const released = (set: MigrationSet): MigrationSet => ({
    ...set,
    migrations: set.migrations.filter(({ name }) => name.slice(0, 4) <= (LAST[set.name] ?? '')),
  });
  const database = await freshDatabase(
    Object.fromEntries(SCHEMAS.map(({ schema, migrations }) => [schema, migrations.map(released).filter((set) => set.migrations.length > 0)])),
  );
  const target = new Database({ url: database.url, maxConnections: 1, settings: { session_replication_role: 'replica' } });
  const { rows: tables } = await target.query<{ name: string; columns: string[] }>({
    text: `select format('%I.%I', table_schema, table_name) as name, array_agg(quote_ident(column_name)::text) as columns
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = any($1::text[]) and table_type = 'BASE TABLE' and table_name not like '%migration%' group by 1`,
    values: [SCHEMAS.map(({ schema }) => schema)],
  });
  for (const { name, columns } of tables) {
    // That release did not have these topics, so it applied none of their events.
    const known = name === 'reporting.inbox_version' ? `where topic not like '%.payments' and topic not like '%.refunds'` : '';
    const { rows } = await system.database.query<{ all_rows: string }>({
      text: `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as all_rows from ${name} t ${known}`,
    });
    await target.query({
      text: `insert into ${name} (${columns.join(', ')}) overriding system value select ${columns.join(', ')} from jsonb_populate_recordset(null::${name}, $1::jsonb)`,
      values: [rows[0]?.all_rows],
    });
  }
  await target.close();
  return database;
}

test('is correct after the first start on the previous release’s data, without an import, and never wrong before', async () => {
  const expected = await Promise.all(QUESTIONS.map((question) => ask(system, company, question)));
  const upgraded = await startSystem({ database: await left() });
  try {
    const settled = fresh(upgraded, company);
    let done = false;
    void settled.then(() => (done = true));
    while (!done) {
      const [question] = QUESTIONS as [Question];
      const { status, body } = await upgraded.get(
        company,
        `/v1/reports/${question.report}?start_date=${range.start}&end_date=${range.end}&group_by=job_class&limit=100`,
      );
      if (status === 200) expect(body.data).toEqual(expected[0]!.slice(0, 100));
      else expect(status).toBe(503);
    }
    await settled;
    expect(await Promise.all(QUESTIONS.map((question) => ask(upgraded, company, question)))).toEqual(expected);
    await addsUp(upgraded);
  } finally {
    await upgraded.stop();
  }
}, 180_000);
