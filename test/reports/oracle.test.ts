// The four reports compared with an oracle that computes them from exported records: every bucket, group, filter and page.
import fc from 'fast-check';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { ask, fresh, sum } from './ask.ts';
import { answerOf } from './oracle/answer.ts';
import type { Question } from './oracle/question.ts';
import { readRecords, type Records, type Settings } from './oracle/records.ts';
import { randomCompany, type RandomCompany } from './random-company.ts';
import { randomQuestion } from './random-questions.ts';

/** `npm run test:reports` sets more companies. A seed determines a company. */
const COMPANIES = Number(process.env['REPORT_COMPANIES'] ?? 6);
const SEED = Number(process.env['REPORT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const AT_ONCE = 3;
const QUESTIONS = 30;

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 120_000);
afterAll(() => system.stop());

test(
  'answers every question about random companies as the oracle does',
  async () => {
    const asked = (company: RandomCompany) =>
      fc.array(fc.tuple(randomQuestion(company.cast, company.around), fc.integer({ min: 1, max: 100 })), { minLength: QUESTIONS, maxLength: QUESTIONS });
    const described = randomCompany.chain((company) => fc.record({ company: fc.constant(company), asked: asked(company) }));
    for (let seed = SEED; seed < SEED + COMPANIES; seed += AT_ONCE) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, SEED + COMPANIES - seed) }, (_, n) => seed + n);
      await Promise.all(
        seeds.map(async (of) => {
          const [sample] = fc.sample(described, { seed: of, numRuns: 1 }) as [{ company: RandomCompany; asked: [Question, number][] }];
          await holdAgainstOracle(sample.company, sample.asked).catch((error: unknown) => {
            throw new Error(`REPORT_SEED=${of} REPORT_COMPANIES=1 npm run test:reports shows it again: ${String(error)}`, { cause: error });
          });
        }),
      );
    }
  },
  120_000 + COMPANIES * 10_000,
);

async function holdAgainstOracle(described: RandomCompany, asked: readonly (readonly [Question, number])[]): Promise<void> {
  const { first, then, lines, again } = described;
  const company = await system.createCompany(first.timezone);
  await set(company, first);
  const imported = async (all: RandomCompany['lines']): Promise<void> => {
    for (const [path, records] of all) expect([path, (await system.importRecords(company, path, records)).problems]).toEqual([path, []]);
  };
  await imported(lines);
  // Import while days are being summed in the new time zone.
  await set(company, then);
  await imported(again);
  await fresh(system, company, then);
  const records = await readRecords(system, company, then);
  const half = Math.ceil(asked.length / 2);
  await compare(company, records, asked.slice(0, half));
  // From sums only; those before were also from facts, of days that were due.
  await sum(system);
  await compare(company, records, asked.slice(half));
}

async function compare(company: TestCompany, records: Records, asked: readonly (readonly [Question, number])[]): Promise<void> {
  for (const [question, limit] of asked) {
    const rows = await ask(system, company, question, limit);
    expect({ question, rows }).toEqual({ question, rows: answerOf(question, records) });
  }
}

async function set(company: TestCompany, { timezone, costing, verifiedOnly }: Settings): Promise<void> {
  const admin = system.channel('integrations').client(CompanyAdminServiceService);
  await admin.updateCompany({ id: company.id, timezone, costing_enabled: costing, verified_only: verifiedOnly });
}

test('answers for the demo company by every bucket and group as the oracle does', async () => {
  const timezone = 'America/Chicago';
  const company = await system.createCompany(timezone);
  await system.importDemo(company, 7, 120);
  await fresh(system, company);
  const records = await readRecords(system, company, { timezone, costing: true, verifiedOnly: false });
  const groups: [Question['report'], (string | null)[]][] = [
    ['invoice-activity', [null, 'account', 'business_unit', 'job_type', 'job_class']],
    ['collections', [null, 'account', 'payment_method', 'collector']],
    ['job-profitability', [null, 'account', 'business_unit', 'job_type', 'job_class']],
    ['technician-participation-profitability', ['team_member']],
  ];
  const range = { start: '2024-09-10', end: '2026-12-05', filters: {}, includeExcluded: false };
  const asked = groups.flatMap(([report, of]) =>
    of.flatMap((groupBy) =>
      (['day', 'week', 'month', 'quarter', 'year'] as const).map((bucket): [Question, number] => [{ report, groupBy, bucket, ...range }, 100]),
    ),
  );
  await compare(company, records, asked);
  await sum(system);
  await compare(company, records, asked);
  const rows = await Promise.all(groups.map(([report]) => ask(system, company, { report, groupBy: null, bucket: 'year', ...range })));
  for (const of of rows) expect(of.some((row: Json) => Object.values(row).some((value) => typeof value === 'number' && value > 100_000))).toBe(true);
}, 180_000);
