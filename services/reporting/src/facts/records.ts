import { binaryArrays, type Queryable } from '@truckroll/postgres';
import { COLLECTIONS, INVOICES } from './definitions.ts';
import { entryOf, type Counted, type Entry, type FactKind } from './fact.ts';

type Value = string | number | Buffer | null;

interface RecordFact<Row> {
  name: string;
  /** Field of the row that `entries` takes → column. */
  columns: Readonly<Record<Exclude<keyof Row & string, 'id'>, string>>;
  entries(row: Row): readonly Entry[];
  /** The same entries in SQL. */
  counted: Counted;
}

export interface RecordFacts extends FactKind {
  /** Entries of a row, from the values of its columns. */
  entriesOf(id: string, column: (name: string) => Value): readonly Entry[];
}

function factsOf<Row extends { id: string }>({ name, columns, entries, counted }: RecordFact<Row>): RecordFacts {
  const named = Object.entries<string>(columns);
  return {
    name,
    counted: [counted],
    async read(db, companyId, ids) {
      const { rows } = await db.query<Row>({
        name: `facts_of_${name}`,
        text: `select f.id, ${named.map(([as, column]) => `${column} as ${as}`).join(', ')}
          from unnest($2::uuid[]) u(id) join ${name} f on f.company_id = $1 and f.id = u.id`,
        values: [companyId, binaryArrays.uuid(ids)],
      });
      return new Map(
        rows.flatMap((row) => {
          const of = entries(row);
          return of.length === 0 ? [] : [[row.id, of]];
        }),
      );
    },
    entriesOf: (id, column) => entries({ id, ...Object.fromEntries(named.map(([as, from]) => [as, column(from)])) } as unknown as Row),
    next: (db, companyId, after, limit) => idsAfter(db, name, companyId, after, limit),
  };
}

async function idsAfter(db: Queryable, table: string, companyId: string, after: string | null, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: `next_of_${table}`,
    text: `select id from ${table} where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
    values: [companyId, after, limit],
  });
  return rows.map(({ id }) => id);
}

export const invoiceFacts = factsOf<{
  id: string;
  status: string;
  issued_at: number | null;
  account: string;
  business_unit: string | null;
  job_type: string | null;
  job_class: string | null;
  subtotal_cents: number;
  discount_cents: number;
  tax_cents: number;
}>({
  name: 'invoices',
  columns: {
    status: 'status',
    issued_at: 'issued_at',
    account: 'account_id',
    business_unit: 'business_unit_id',
    job_type: 'job_type_id',
    job_class: 'job_class',
    subtotal_cents: 'subtotal_cents',
    discount_cents: 'discount_cents',
    tax_cents: 'tax_cents',
  },
  entries({ status, issued_at, subtotal_cents, discount_cents, tax_cents, ...values }) {
    if (issued_at === null) return [];
    return [entryOf(INVOICES, issued_at, values, status, { invoice_count: 1, subtotal_cents, discount_cents, tax_cents })];
  },
  counted: {
    summary: INVOICES,
    rows: `select company_id, id, issued_at as at, status as standing, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class,
      1 as invoice_count, subtotal_cents, discount_cents, tax_cents from invoices where issued_at is not null`,
  },
});

interface Movement {
  id: string;
  status: string | null;
  account: string;
  payment_method: string;
  collector: string | null;
  occurred_at: number;
  amount_cents: number;
}

/** The only standing of collections: payments and refunds that do not count are in no sum. */
const COUNTED = '';

export const paymentFacts = factsOf<Movement>({
  name: 'payments',
  columns: {
    status: 'status',
    account: 'account_id',
    payment_method: 'method',
    collector: 'collected_by_id',
    occurred_at: 'occurred_at',
    amount_cents: 'amount_cents',
  },
  entries({ status, occurred_at, amount_cents, ...values }) {
    if (status !== 'PAID') return [];
    return [entryOf(COLLECTIONS, occurred_at, { ...values }, COUNTED, { payment_count: 1, received_cents: amount_cents })];
  },
  counted: {
    summary: COLLECTIONS,
    rows: `select company_id, id, occurred_at as at, '${COUNTED}' as standing, account_id as account, method as payment_method, collected_by_id as collector,
      1 as payment_count, 0 as refund_count, amount_cents as received_cents, 0 as refunded_cents from payments where status = 'PAID'`,
  },
});

/** A refund counts by its own status, whatever its payment's status (decisions §13). */
export const refundFacts = factsOf<Movement>({
  name: 'refunds',
  columns: {
    status: 'status',
    account: 'account_id',
    payment_method: 'payment_method',
    collector: 'collected_by_id',
    occurred_at: 'occurred_at',
    amount_cents: 'amount_cents',
  },
  entries({ status, occurred_at, amount_cents, ...values }) {
    if (status !== 'SUCCEEDED') return [];
    return [entryOf(COLLECTIONS, occurred_at, { ...values }, COUNTED, { refund_count: 1, refunded_cents: amount_cents })];
  },
  counted: {
    summary: COLLECTIONS,
    rows: `select company_id, id, occurred_at as at, '${COUNTED}' as standing, account_id as account, payment_method, collected_by_id as collector,
      0 as payment_count, 1 as refund_count, 0 as received_cents, amount_cents as refunded_cents from refunds where status = 'SUCCEEDED'`,
  },
});
