// Rows of the read models in reporting, as its subscriber would have stored them.
import { JOB_CLASS_NAMES, shapeNamed } from '@truckroll/contract';
import { CostCategory, CostTrackingStatus, CostVerificationStatus, JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Value } from '../data/copy.ts';
import { JOB_TYPES, MEMBERS, SPARE_JOBS, UNITS, YEARS, idOf, type ReportSet } from './company.ts';

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  rows(): Iterable<readonly Value[]>;
}

const HOUR = 3_600_000;
const FROM = Date.parse(`${YEARS.start}T12:00:00Z`);
/** Ends early enough that payments and refunds of an invoice fall in the same years. */
const SPAN = Date.parse(`${YEARS.end}T00:00:00Z`) - FROM - 40 * 24 * HOUR;
const CLASSES = Object.keys(JOB_CLASS_NAMES);
const METHODS = ['CARD', 'CARD', 'CARD', 'ACH', 'ACH', 'CHECK', 'CASH', 'PAYPAL'];
const REFUNDED_EVERY = 50;
/** Percentage of records with another unit, and with another class, than is usual for their job type. */
const UNUSUAL = 10;
/** Keyed by the enumeration's generated names. */
const generatedClass = shapeNamed('truckroll.reporting.v1.JobFinancials').byName.get('job_class')?.enum?.generated;

/** Pseudorandom number between 0 and 1, the same for the same arguments. */
function draw(number: number, salt: number): number {
  let state = Math.imul(number ^ 0x5bd1e995, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
}

const pick = (number: number, salt: number, count: number): number => Math.floor(draw(number, salt) * count);
const instant = (ms: number): string => new Date(ms).toISOString();

/** Customer, kind of work and time of a job or of an invoice without a job. */
function workOf(number: number, { accounts }: ReportSet) {
  const type = pick(number, 2, JOB_TYPES);
  const unusual = pick(number, 3, 100);
  const unit = unusual < UNUSUAL ? pick(number, 4, UNITS) : type % UNITS;
  const jobClass = unusual >= 100 - UNUSUAL ? pick(number, 5, CLASSES.length) : type % CLASSES.length;
  return {
    // Some customers come much more often than others.
    account: idOf('account', Math.floor(draw(number, 1) ** 1.5 * accounts)),
    unit: idOf('unit', unit),
    // Some records have no job type.
    type: unusual === 50 ? null : idOf('type', type),
    jobClass: CLASSES[jobClass] as string,
    at: FROM + Math.floor(draw(number, 6) * SPAN),
  };
}

function statusOf(number: number): string {
  const of = pick(number, 7, 100);
  return of < 78 ? 'PAID' : of < 94 ? 'OPEN' : of < 97 ? 'VOIDED' : 'UNCOLLECTABLE';
}

function membersOf(job: number): number[] {
  return Array.from({ length: 1 + pick(job, 15, 2) }, (_, i) => pick(job, 16 + i, MEMBERS));
}

const includedOf = (job: number, type: string | null): boolean => type !== null && pick(job, 21, 20) !== 0;
const verifiedOf = (job: number): boolean => pick(job, 20, 10) < 7;
/** Cents of labor, parts, equipment and miscellaneous. */
const costsOf = (job: number): number[] => [22, 23, 24, 25].map((salt) => 1000 + pick(job, salt, 60_000));

export function tablesOf(set: ReportSet, companyId: string): Table[] {
  const numbers = function* (count: number): Generator<number> {
    for (let number = 0; number < count; number++) yield number;
  };
  const amount = (number: number): number => 5000 + pick(number, 8, 400_000);
  // The first invoices belong to a job each; the others have no job, like maintenance fees.
  return [
    {
      name: 'invoices',
      columns: [
        'company_id',
        'projection',
        'id',
        'job_id',
        'number',
        'status',
        'issued_at',
        'created_at',
        'account_id',
        'business_unit_id',
        'job_type_id',
        'job_class',
        'subtotal_cents',
        'discount_cents',
        'tax_cents',
      ],
      *rows() {
        for (const n of numbers(set.invoices)) {
          const { account, unit, type, jobClass, at } = workOf(n, set);
          const cents = amount(n);
          const job = n < set.jobs ? idOf('job', n) : null;
          yield [
            companyId,
            1,
            idOf('invoice', n),
            job,
            `INV-${n + 1}`,
            statusOf(n),
            instant(at),
            instant(at),
            account,
            unit,
            type,
            jobClass,
            cents,
            pick(n, 9, 500),
            Math.round(cents / 12),
          ];
        }
      },
    },
    {
      name: 'payments',
      columns: ['company_id', 'projection', 'id', 'status', 'method', 'account_id', 'collected_by_id', 'amount_cents', 'occurred_at'],
      *rows() {
        for (const n of numbers(set.invoices)) {
          const { account, at } = workOf(n, set);
          const collector = pick(n, 10, 10) === 0 ? null : idOf('member', pick(n, 11, MEMBERS));
          const status = pick(n, 12, 20) === 0 ? 'FAILED' : 'PAID';
          yield [companyId, 1, idOf('payment', n), status, METHODS[n % METHODS.length], account, collector, amount(n), instant(at + pick(n, 13, 700) * HOUR)];
        }
      },
    },
    {
      name: 'refunds',
      columns: ['company_id', 'projection', 'id', 'status', 'payment_method', 'account_id', 'collected_by_id', 'amount_cents', 'occurred_at'],
      *rows() {
        for (const n of numbers(Math.floor(set.invoices / REFUNDED_EVERY))) {
          const { account, at } = workOf(n, set);
          const member = idOf('member', pick(n, 11, MEMBERS));
          yield [companyId, 1, idOf('refund', n), 'SUCCEEDED', METHODS[n % METHODS.length], account, member, pick(n, 14, amount(n)), instant(at + 720 * HOUR)];
        }
      },
    },
    {
      name: 'assignments',
      columns: ['company_id', 'projection', 'id', 'job_id', 'team_member_id', 'team_member_name'],
      *rows() {
        for (const n of numbers(set.jobs)) {
          for (const [of, member] of membersOf(n).entries()) {
            yield [companyId, 1, idOf('assignment', 2 * n + of), idOf('job', n), idOf('member', member), `Member ${member + 1}`];
          }
        }
      },
    },
    {
      name: 'job_financials',
      columns: ['company_id', 'projection', 'id', 'created_at', 'job_class', 'business_unit_id', 'job_type_id', 'report_date', 'document'],
      *rows() {
        for (const n of numbers(set.jobs + SPARE_JOBS)) {
          const work = workOf(n, set);
          const at = n < set.jobs ? work.at : Date.parse(`${YEARS.end}T18:00:00Z`) + (n - set.jobs) * HOUR;
          const { unit, type, jobClass } = work;
          yield [
            companyId,
            1,
            idOf('job', n),
            instant(at),
            jobClass,
            unit,
            type,
            instant(at).slice(0, 10),
            `\\x${documentOf(n, { ...work, at }).toString('hex')}`,
          ];
        }
      },
    },
    {
      name: 'job_facts',
      columns: [
        'company_id',
        'id',
        'reported_at',
        'account_id',
        'business_unit_id',
        'job_type_id',
        'job_class',
        'standing',
        'members',
        'revenue_cents',
        'labor_cost_cents',
        'parts_cost_cents',
        'equipment_cost_cents',
        'misc_cost_cents',
        'other_cost_cents',
      ],
      *rows() {
        for (const n of numbers(set.jobs)) {
          const { account, unit, type, jobClass, at } = workOf(n, set);
          const revenue = ['OPEN', 'PAID'].includes(statusOf(n)) ? amount(n) : 0;
          const standing = `${includedOf(n, type) ? 'included' : 'excluded'}_${verifiedOf(n) ? 'verified' : 'unverified'}`;
          const members = [...new Set(membersOf(n).map((member) => idOf('member', member)))].sort();
          yield [companyId, idOf('job', n), instant(at), account, unit, type, jobClass, standing, `{${members.join()}}`, revenue, ...costsOf(n), 0];
        }
      },
    },
  ];
}

const NOTHING = JobFinancials.decode(new Uint8Array());
const CATEGORIES = [CostCategory.LABOR, CostCategory.PARTS, CostCategory.EQUIPMENT, CostCategory.MISC];

function documentOf(number: number, { account, unit, type, jobClass, at }: ReturnType<typeof workOf>): Buffer {
  const reference = (id: string, name: string) => ({ id, name });
  const record: JobFinancials = {
    ...NOTHING,
    id: idOf('job', number),
    number: `J-${number + 1}`,
    account: reference(account, 'A customer'),
    location_id: account,
    business_unit: reference(unit, 'A unit'),
    job_type: type === null ? null : reference(type, 'A job type'),
    job_class: generatedClass?.get(jobClass) as JobFinancials['job_class'],
    created_at: at * 1000,
    report_date: instant(at).slice(0, 10),
    costing: {
      enabled: true,
      tracking_status: CostTrackingStatus.TRACKED,
      verification_status: verifiedOf(number) ? CostVerificationStatus.VERIFIED : CostVerificationStatus.UNVERIFIED,
      job_type_included: includedOf(number, type),
    },
    currency: 'USD',
    cost_entries: costsOf(number).map((cents, i) => costOf(CATEGORIES[i] as CostCategory, cents)),
  };
  return Buffer.from(JobFinancials.encode(record).finish());
}

function costOf(category: CostCategory, cents: number): JobFinancials['cost_entries'][number] {
  return {
    id: idOf('job', 0),
    category,
    source: 'MANUAL',
    name: category,
    quantity: 1,
    quantity_unit: 'EACH',
    unit_cost_cents: cents,
    total_cents: cents,
    created_at: FROM * 1000,
    updated_at: FROM * 1000,
  };
}
