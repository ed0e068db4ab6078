// What operators see of the age of reports, and of companies whose sums are being computed.
import { randomUUID } from 'node:crypto';
import { topics, watermarkSources } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { agesOfAsOf } from '../src/freshness/as-of.ts';
import { freshnessMetrics } from '../src/freshness/metrics.ts';
import { schema } from '../src/schema.ts';
import { deadLetter } from './records.ts';

const OWNERS = ['integrations', 'scheduling', 'billing'];

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());
afterEach(() => database.query({ text: 'truncate applied_until, parked_event, inbox_version, summed, due_notes' }));

const behind = (seconds: number, ...sources: string[]) =>
  database.query({
    text: `insert into applied_until select source, clock_timestamp() - $2 * interval '1 second' from unnest($1::text[]) source`,
    values: [sources, seconds],
  });
const letter = (company: string, secondsAgo: number, topic?: string) => deadLetter(database, company, (Date.now() - secondsAgo * 1000) * 1000, topic);

/** In thousands of seconds, so that the time that the test takes does not show. */
const ages = async () => Object.fromEntries([...(await agesOfAsOf(database))].map(([cause, seconds]) => [cause, Math.floor(seconds / 1000)]));

test('the age of reports is that of each owner, and that of the company whose dead letters hold it back most', async () => {
  const company = randomUUID();
  expect(await ages()).toEqual({});
  await behind(7_500, ...watermarkSources);
  await behind(99_500, '/truckroll/of-no-owner');
  const ofOwners = Object.fromEntries(OWNERS.map((owner) => [owner, 7]));
  expect(await ages()).toEqual(ofOwners);
  await letter(company, 90_500, topics.names.name);
  await letter(randomUUID(), 30_500);
  await letter(company, 50_500);
  expect(await ages()).toEqual({ ...ofOwners, dead_letters: 50 });
  await database.query({ text: `insert into inbox_version values ('reporting', $1, $2, 8)`, values: [topics.payments.name, `${company}/1`] });
  expect(await ages()).toEqual({ ...ofOwners, dead_letters: 30 });
});

async function measured(): Promise<Record<string, number>> {
  const metrics = createMetrics('reporting');
  const part = freshnessMetrics(database, silentLog, metrics);
  await part.start?.();
  const { body } = await until(
    'the first measurement',
    () => metrics.render(),
    (rendered) => rendered.body.includes('report_companies{'),
  );
  await part.stop();
  const lines = body.matchAll(/^report_(?:as_of_age_seconds|companies)\{.*?(?:because_of|reports)="(\w+)".*\} (\S+)$/gm);
  const due = /^report_due_seconds\S* (\S+)$/m.exec(body)?.[1];
  return { ...Object.fromEntries([...lines].map(([, of, value]) => [of as string, Number(value)])), due: Number(due) };
}

test('counts companies whose days are all due, by whether their sums can still be read, and shows the age of the oldest change that is due', async () => {
  const [first, again] = [randomUUID(), randomUUID()];
  const summed = (company: string, report: string, before: string | null, version: number) =>
    database.query({ text: `insert into summed values ($1, $2, 'UTC', 1, $3, $4)`, values: [company, report, before, version] });
  for (const report of ['invoice', 'job']) {
    await summed(first, report, 'infinity', 0);
    await summed(again, report, '2026-03-01', 1);
    await summed(randomUUID(), report, null, 0);
  }
  for (const seconds of [3500, 2500]) {
    await database.query({ text: `insert into due_notes values ($1, 'job', '2026-03-01', now() - $2 * interval '1 s')`, values: [first, seconds] });
  }
  const { due, ...companies } = await measured();
  expect(companies).toMatchObject({ unanswered: 1, answered: 1 });
  expect(Math.floor(due! / 1000)).toBe(3);
});

test('shows an age of 0 for a cause that is not known, and for a time in the future', async () => {
  await behind(-5_000, '/truckroll/billing');
  await behind(5_000, '/truckroll/scheduling');
  const { scheduling, ...others } = await measured();
  expect(scheduling).toBeGreaterThanOrEqual(5_000);
  expect(others).toMatchObject({ integrations: 0, billing: 0, dead_letters: 0 });
});
