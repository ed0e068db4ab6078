// What writes of an older release change, and which reports are answered.
import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { passGate } from '../src/reports/gate.ts';
import type { ReportQuestion } from '../src/reports/sources.ts';
import { keepingSettings, schema } from '../src/schema.ts';
import { summaryBuilder } from '../src/building/builder.ts';
import { INVOICES, SUMMARIES_VERSION, type Since } from '../src/facts/definitions.ts';
import { beginGeneration } from '../src/summaries/generations.ts';
import { newCompany } from './records.ts';

const { spyOn } = jest;

const NEWEST = SUMMARIES_VERSION + 1;
/** The setting's value in release 1.0.0, which keeps sums of version 1. */
const FIRST = 'on';
const RELEASES: [setting: string | number, version: number][] = [
  [FIRST, 1],
  [SUMMARIES_VERSION, SUMMARIES_VERSION],
];
const FAR = 100_000_000;

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeEach(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: keepingSettings }));
  company = await newCompany(database);
});
afterEach(() => close());

/** Runs one statement as a release that keeps sums of this version; without a version, as an operator. */
async function as(keeps: string | number | undefined, text: string, values: unknown[] = [company]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query({ text: `select set_config('truckroll.keeps_summaries', $1, true)`, values: [keeps === undefined ? '' : String(keeps)] });
    await tx.query({ text, values });
  });
}

const INVOICE = `insert into invoices (company_id, id, number, status, created_at, account_id, subtotal_cents, discount_cents, tax_cents, projection)
  values ($1, gen_random_uuid(), 'INV-1', 'OPEN', now(), gen_random_uuid(), 0, 0, 0, 1)`;

const generations = async (): Promise<unknown[]> => {
  const { rows } = await database.query<{ state: string; version: number }>({
    text: 'select state, version from generations where company_id = $1 order by generation',
    values: [company],
  });
  return rows.map(({ state, version }) => `${state} ${version}`);
};
const generation = (state: string, version: number, number = 1): Promise<void> =>
  as(version, `insert into generations (company_id, generation, time_zone, state, version) values ($1, $2, 'America/Chicago', $3, $4)`, [
    company,
    number,
    state,
    version,
  ]);
const spoiled = async (): Promise<boolean> => (await database.query({ text: 'select from spoiled_summaries' })).rowCount > 0;
const raise = (): Promise<unknown> => database.query({ text: `select raise_summaries(${NEWEST})` });

describe('a write of facts', () => {
  it.each(RELEASES)('leaves the sums’ version unchanged when a release with setting %s makes it and keeps that version', async (keeps, version) => {
    await generation('current', version);
    await as(keeps, INVOICE);
    expect([await generations(), await spoiled()]).toEqual([[`current ${version}`], false]);
  });

  it.each(RELEASES)('lowers the sums’ version when an older release, with setting %s, makes it', async (keeps, version) => {
    await raise();
    await generation('retired', NEWEST, 1);
    await generation('current', NEWEST, 2);
    await generation('building', NEWEST, 3);
    await as(keeps, INVOICE);
    expect([await generations(), await spoiled()]).toEqual([[`retired ${NEWEST}`, `current ${version}`, `building ${version}`], false]);
  });

  it.each(['update invoices set tax_cents = 1 where company_id = $1', 'delete from invoices where company_id = $1'])(
    'lowers the sums’ version when an older release makes it by: %s',
    async (text) => {
      await raise();
      await as(NEWEST, INVOICE);
      await generation('current', NEWEST);
      await as(SUMMARIES_VERSION, text);
      expect(await generations()).toEqual([`current ${SUMMARIES_VERSION}`]);
    },
  );

  it('never raises sums of an even older version', async () => {
    await raise();
    await generation('current', 0);
    await as(FIRST, INVOICE);
    expect(await generations()).toEqual(['current 0']);
  });

  it('leaves the version unchanged when the newest release makes it, and never affects another company', async () => {
    await raise();
    await generation('current', NEWEST);
    await as(NEWEST, INVOICE);
    await as(FIRST, INVOICE, [randomUUID()]);
    expect([await generations(), await spoiled()]).toEqual([[`current ${NEWEST}`], false]);
  });

  it('spoils the sums when the writer does not keep them', async () => {
    await generation('current', SUMMARIES_VERSION);
    await as(undefined, INVOICE);
    expect([await generations(), await spoiled()]).toEqual([[`current ${SUMMARIES_VERSION}`], true]);
  });
});

describe('building', () => {
  it('by an older release lowers the generations it adds to or begins', async () => {
    await raise();
    await generation('building', NEWEST);
    await as(SUMMARIES_VERSION, 'update generations set stage = 1 where company_id = $1');
    await as(
      SUMMARIES_VERSION,
      `insert into generations (company_id, generation, time_zone, state, version) values ($1, 2, 'America/Chicago', 'retired', ${NEWEST})`,
    );
    expect(await generations()).toEqual([`building ${SUMMARIES_VERSION}`, `retired ${SUMMARIES_VERSION}`]);
  });

  it('begins sums with the version of the code', async () => {
    await database.transaction((tx) => beginGeneration(tx, company));
    expect(await generations()).toEqual([`building ${SUMMARIES_VERSION}`]);
  });

  async function built(companies = 1): Promise<string[]> {
    const metrics = createMetrics('reporting');
    const builder = summaryBuilder(database, silentLog, metrics, FAR);
    await builder.start();
    for (let left = 1; left > 0; ) {
      const { rows } = await database.query<{ left: number }>({
        text: `select count(*) filter (where state <> 'current' or version < ${SUMMARIES_VERSION}) + $1 - count(*) filter (where state = 'current')
          + (select count(*) from spoiled_summaries) as left from generations`,
        values: [companies],
      });
      left = rows[0]!.left;
    }
    await builder.stop();
    const { body } = await metrics.render();
    return body.split('\n').filter((line) => /^report_builds_(begun|finished)_total/.test(line));
  }

  it('replaces sums of an older version', async () => {
    await generation('current', SUMMARIES_VERSION - 1);
    expect(await built()).toEqual([expect.stringMatching(/reason="older".* 1$/), expect.stringMatching(/finished_total.* 1$/)]);
    expect(await generations()).toEqual([`current ${SUMMARIES_VERSION}`]);
  });

  it('builds sums that are spoiled, and sums for a company without any, and counts both by reason', async () => {
    await generation('current', SUMMARIES_VERSION);
    await newCompany(database);
    await database.query({ text: 'insert into spoiled_summaries values ($1)', values: [company] });
    expect((await built(2)).toSorted()).toEqual([
      expect.stringMatching(/reason="missing".* 1$/),
      expect.stringMatching(/reason="spoiled".* 1$/),
      expect.stringMatching(/finished_total.* 2$/),
    ]);
    expect(await spoiled()).toBe(false);
  });

  it.each([
    ['spoiled', `insert into spoiled_summaries values ($1)`],
    ['of an older version', `update generations set version = ${SUMMARIES_VERSION - 1} where company_id = $1`],
  ])('waits before it builds sums a second time that are %s again', async (_, again) => {
    const now = spyOn(performance, 'now').mockReturnValue(1_000_000);
    const builder = summaryBuilder(database, silentLog, createMetrics('reporting'), FAR);
    const builtAs = async (number: number, of = company): Promise<void> => {
      const text = `select from generations where company_id = $1 having count(*) = 1 and max(generation) = $2 and max(state) = 'current'`;
      for (let found = 0; found === 0; ) ({ rowCount: found } = await database.query({ text, values: [of, number] }));
    };
    try {
      await generation('current', SUMMARIES_VERSION);
      await database.query({ text: again, values: [company] });
      await builder.start();
      await builtAs(2);
      await database.query({ text: again, values: [company] });
      builder.look();
      // Another company's sums are begun by a later look of the same builder.
      const other = await newCompany(database);
      builder.look();
      await builtAs(1, other);
      const { rows } = await database.query({ text: 'select max(generation) as newest from generations where company_id = $1', values: [company] });
      expect(rows).toEqual([{ newest: 2 }]);
      now.mockReturnValue(1_002_000);
      builder.look();
      await builtAs(3);
    } finally {
      now.mockRestore();
      await builder.stop();
    }
  });

  it('removes all sums of a retired generation, however many there are', async () => {
    await generation('current', SUMMARIES_VERSION, 2);
    await generation('retired', SUMMARIES_VERSION, 1);
    for (const number of [1, 2]) {
      await as(
        SUMMARIES_VERSION,
        `insert into collection_summaries select $1, $2, 'account/day', '2026-03-01', i::text, '', 1, 5, 0, 0 from generate_series(1, 5001) i`,
        [company, number],
      );
    }
    await built();
    const { rows } = await database.query({ text: 'select generation, count(*) as sums from collection_summaries group by 1' });
    expect(rows).toEqual([{ generation: 2, sums: 5001 }]);
  });

  it('finishes a generation of an older version before it begins the next one', async () => {
    await generation('current', SUMMARIES_VERSION, 1);
    await generation('building', SUMMARIES_VERSION - 1, 2);
    expect(await built()).toEqual([expect.stringMatching(/reason="older".* 1$/), expect.stringMatching(/finished_total.* 2$/)]);
    const { rows } = await database.query({ text: 'select generation from generations' });
    expect(rows).toEqual([{ generation: 3 }]);
  });
});

describe('a report', () => {
  const question: ReportQuestion = {
    summary: INVOICES,
    companyId: '',
    generation: 1,
    timeZone: 'America/Chicago',
    groupBy: null,
    filters: new Map(),
    standings: ['OPEN'],
  };
  const asked = (since: Record<string, Since>, version: number, more: Partial<ReportQuestion> = {}): Promise<void> =>
    passGate(database, { ...question, ...more, companyId: company, summary: { ...INVOICES, since } }, version);
  const since = { account: { version: NEWEST } };
  const refusal = { status: 503, retryAfterSeconds: 2, message: expect.stringContaining('account is new in this report') };

  it('that groups or filters by a new dimension is refused while the sums are older', async () => {
    await expect(asked(since, NEWEST - 1, { groupBy: 'account' })).rejects.toMatchObject(refusal);
    await expect(asked(since, NEWEST - 1, { filters: new Map([['account', ['a']]]) })).rejects.toMatchObject(refusal);
    await asked(since, NEWEST, { groupBy: 'account' });
    await asked(since, NEWEST + 1, { groupBy: 'account' });
  });

  it('that does not use the new dimension is answered', async () => {
    await asked(since, NEWEST - 1, { groupBy: 'job_class', filters: new Map([['business_unit', ['b']]]) });
  });

  it('is refused while the sums are older than one of its columns', async () => {
    await expect(asked({ tax_cents: { version: NEWEST } }, NEWEST - 1)).rejects.toMatchObject({ status: 503 });
    await asked({ tax_cents: { version: NEWEST } }, NEWEST);
  });

  it('is refused while the company has rows in the read model from before the dimension', async () => {
    const rows = { account: { version: NEWEST, rows: { payments: 1, invoices: 2 } } };
    await as(SUMMARIES_VERSION, INVOICE, [randomUUID()]);
    await asked(rows, NEWEST, { groupBy: 'account' });
    await as(SUMMARIES_VERSION, INVOICE);
    await expect(asked(rows, NEWEST, { groupBy: 'account' })).rejects.toMatchObject(refusal);
    await as(SUMMARIES_VERSION, 'update invoices set projection = 2 where company_id = $1');
    await asked(rows, NEWEST, { groupBy: 'account' });
  });
});
