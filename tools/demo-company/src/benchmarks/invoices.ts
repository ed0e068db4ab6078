import type { Invoice, InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import type { Payment, PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { INVOICE_BILLS, billOf } from '../billing/bill.ts';
import { buildCompany } from '../build-company.ts';
import type { Company, DemoFile } from '../company.ts';
import { describeCompany, filesOf } from '../generate.ts';
import { resolveSeed, type DemoOptions } from '../options.ts';
import { Rota, drawOf, idOf, stream } from '../random.ts';
import { accountRef, accountsAt, locationId } from '../scheduling/customers.ts';
import { JOBS } from '../scheduling/job-plan.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';
import { DAY, HOUR, MINUTE } from '../time.ts';

export interface InvoiceOptions extends Pick<DemoOptions, 'seed' | 'timezone' | 'until'> {
  readonly companies: number;
  readonly invoicesPerCompany: number;
}

export interface BenchmarkCompany {
  readonly seed: number;
  readonly name: string;
  readonly timezone: string;
  readonly files: readonly DemoFile[];
}

const makeInvoice = makerOf<Invoice>('invoices');
const makePayment = makerOf<Payment>('payments');
const INVOICES = stream('invoices of benchmarks');
const PAYMENTS = stream('payments of benchmarks');
const BILL = 4;
const INVOICES_PER_ACCOUNT = 10;
const NEXT_SEED = 0x9e3779b1;

const STATES = new Rota<{ status: Spelled<InvoiceStatus>; payment: Spelled<PaymentStatus> | null }>('invoices of benchmarks', [
  [{ status: 'PAID', payment: 'PAID' }, 34],
  [{ status: 'OPEN', payment: 'PENDING' }, 4],
  [{ status: 'OPEN', payment: 'PROCESSING' }, 2],
  [{ status: 'OPEN', payment: 'FAILED' }, 2],
  [{ status: 'OPEN', payment: null }, 1],
  [{ status: 'VOIDED', payment: 'CANCELED' }, 1],
  [{ status: 'UNCOLLECTABLE', payment: 'FAILED' }, 1],
]);
const METHODS = ['CARD', 'CARD', 'ACH', 'CHECK', 'CASH'] as const;

/**
 * Companies of equal size for read benchmarks. Each invoice has three lines, one discount and one payment. They cover two years;
 * each account has about ten. Includes the records that they name. Throws RangeError like generateCompany.
 */
export function* generateInvoices(options: InvoiceOptions): Iterable<BenchmarkCompany> {
  const { companies, invoicesPerCompany, timezone, until } = options;
  const first = resolveSeed(options.seed);
  for (let n = 0; n < companies; n++) {
    const seed = (first + Math.imul(n, NEXT_SEED)) >>> 0;
    const size = { jobs: invoicesPerCompany, accounts: Math.ceil(invoicesPerCompany / INVOICES_PER_ACCOUNT), members: 20 };
    const company = buildCompany({ seed, timezone, until, size });
    yield {
      seed,
      ...describeCompany({ seed, timezone }),
      files: [
        ...filesOf(company, ['business-units', 'job-lifecycles', 'job-types', 'team-members', 'accounts']),
        { path: 'invoices', records: { [Symbol.iterator]: () => buildInvoices(company) } },
        { path: 'payments', records: { [Symbol.iterator]: () => buildPayments(company) } },
      ],
    };
  }
}

/** What an invoice and its payment agree on. */
function factsOf(company: Company, n: number) {
  const draw = drawOf(company, INVOICES, n);
  const accountNumber = Math.floor(draw.next() ** 1.5 * accountsAt(company, n));
  const type = draw.pick(company.jobTypes);
  const terms = { trade: type.trade, lines: 3, discounts: 1, multiplier: 1, charge: 'usual', adjusted: false } as const;
  return {
    account: accountRef(company, accountNumber),
    accountNumber,
    state: STATES.at(company.seed, n),
    issuedAt: company.calendar.bookedAt(n),
    office: draw.pick(company.members.office).ref,
    bill: billOf(company, INVOICE_BILLS, n, BILL, draw, terms),
    type,
  };
}

function* buildInvoices(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    const { account, accountNumber, state, issuedAt, office, bill, type } = factsOf(company, n);
    yield makeInvoice(
      { company, n },
      {
        id: idOf(company, INVOICES, n),
        number: `INV-${100_001 + n}`,
        status: state.status,
        account,
        job_id: idOf(company, JOBS, n),
        location_id: locationId(company, accountNumber, 0),
        maintenance_plan_id: null,
        business_unit: type.unit.ref,
        job_type: type.ref,
        created_by: office,
        job_class: type.jobClass,
        created_at: issuedAt,
        updated_at: issuedAt,
        issued_at: issuedAt,
        due_at: issuedAt + 30 * DAY,
        pricing_multiplier: 1,
        line_items: bill.lines,
        discounts: bill.discounts,
        tax: bill.tax,
        amounts: bill.amounts,
      },
    );
  }
}

function* buildPayments(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    const { account, state, issuedAt, office, bill } = factsOf(company, n);
    const cents = bill.amounts.total_cents;
    const receivedAt = Math.min(company.until, issuedAt + (n % 700) * HOUR + (n % 60) * MINUTE);
    yield makePayment(
      { company, n },
      {
        id: idOf(company, PAYMENTS, n),
        number: `PAY-${100_001 + n}`,
        account,
        status: state.payment,
        method: METHODS[n % METHODS.length] ?? 'CARD',
        amount_cents: cents,
        occurred_at: receivedAt,
        created_at: receivedAt,
        updated_at: receivedAt,
        collected_by: office,
        invoice_allocations: [{ invoice_id: idOf(company, INVOICES, n), applied_cents: cents }],
      },
    );
  }
}
