import fc from 'fast-check';
import { addDays, type Bucket } from './oracle/dates.ts';
import type { Question, ReportName } from './oracle/question.ts';
import type { Cast } from './random-company.ts';

/** Maximum length of a range in days, so that an answer has at most some hundreds of rows. */
const LENGTHS: Record<Bucket, number> = { day: 40, week: 250, month: 900, quarter: 2000, year: 9000 };

type Reach = 'near' | 'far' | 'all';

type Values = readonly string[];

export function randomQuestion({ accounts, units, types, members }: Cast, around: string): fc.Arbitrary<Question> {
  const classes: Values = ['SERVICE', 'INSTALL', 'UNKNOWN', 'WARRANTY'];
  const reports: Record<ReportName, { groups: (string | null)[]; filters: Record<string, Values>; jobs: boolean }> = {
    'invoice-activity': {
      groups: [null, 'account', 'business_unit', 'job_type', 'job_class'],
      filters: { status: ['OPEN', 'PAID', 'VOIDED', 'DRAFT'], account_id: accounts, business_unit_id: units, job_type_id: types, job_class: classes },
      jobs: false,
    },
    collections: {
      groups: [null, 'account', 'payment_method', 'collector'],
      filters: { method: ['CARD', 'CASH', 'PAYPAL'], account_id: accounts, collected_by_id: members },
      jobs: false,
    },
    'job-profitability': {
      groups: [null, 'business_unit', 'job_type', 'job_class', 'account'],
      filters: { job_class: classes, job_type_id: types, business_unit_id: units },
      jobs: true,
    },
    'technician-participation-profitability': { groups: [null, 'team_member'], filters: { job_class: classes, team_member_id: members }, jobs: true },
  };
  const bucket = fc.constantFrom<Bucket>('day', 'week', 'month', 'quarter', 'year');
  return fc.constantFrom(...(Object.keys(reports) as ReportName[])).chain((report) => {
    const { groups, filters, jobs } = reports[report];
    const some = Object.fromEntries(
      Object.entries(filters).map(([name, values]) => [name, fc.option(fc.subarray([...values], { minLength: 1 }), { freq: 3, nil: [] as string[] })]),
    );
    return fc
      .record({
        bucket,
        groupBy: fc.constantFrom(...groups),
        given: fc.record(some),
        back: fc.nat({ max: 450 }),
        reach: fc.constantFrom<Reach>('near', 'near', 'far', 'all'),
        length: fc.nat(),
        include: fc.boolean(),
      })
      .map(({ bucket: of, groupBy, given, back, reach, length, include }): Question => {
        const start = addDays(around, -(reach === 'near' ? back % 12 : back));
        // Ungrouped, all years would be ten thousand rows.
        const all = reach === 'all' && (groupBy !== null || report === 'technician-participation-profitability');
        const range = all
          ? ({ bucket: 'year', start: '0001-01-01', end: '9999-12-31' } as const)
          : { bucket: of, start, end: addDays(start, 1 + (length % LENGTHS[of])) };
        return {
          report,
          groupBy,
          ...range,
          // At most half of the filters at once, because more would leave almost nothing to count.
          filters: Object.fromEntries(
            Object.entries(given).flatMap(([name, values], n) =>
              values.length > 0 && (back + n) % 2 === 0 ? [[name, name.endsWith('_id') && include ? values.map((id) => id.toUpperCase()) : values]] : [],
            ),
          ),
          includeExcluded: jobs && include,
        };
      });
  });
}
