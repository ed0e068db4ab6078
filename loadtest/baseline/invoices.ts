// Reads invoices from normalised rows: one query for the invoices, one for each kind of child.
import type pg from 'pg';
import { amountsOf, bucketOf } from './amounts.ts';
import { childStatement, invoiceStatement, pageStatement, type Child, type Company, type Position, type Statement, type Style } from './statements.ts';

export interface Page {
  readonly data: readonly object[];
  readonly next: Position | undefined;
}

/** A row as PostgreSQL returns it. Only these columns are read; the others are copied into the answer. */
interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly invoice_id: string;
  readonly created_at: string;
  readonly status: string;
  readonly days_past_due: number | null;
  readonly applied_cents: number;
  readonly payment_status: string | null;
}

export class Invoices {
  readonly #pool: pg.Pool;
  readonly #style: Style;

  constructor(pool: pg.Pool, style: Style) {
    this.#pool = pool;
    this.#style = style;
  }

  async page(company: Company, limit: number, after: Position | undefined): Promise<Page> {
    const rows = await this.#query(pageStatement(this.#style, company, limit, after));
    const more = rows.length > limit;
    if (more) rows.pop();
    const data = await this.#complete(company, rows);
    const last = rows.at(-1);
    return { data, next: more && last !== undefined ? { createdAt: last.created_at, id: last.id } : undefined };
  }

  async one(company: Company, id: string): Promise<object | undefined> {
    const [invoice] = await this.#complete(company, await this.#query(invoiceStatement(company, id)));
    return invoice;
  }

  async #complete(company: Company, rows: readonly Row[]): Promise<object[]> {
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.id);
    const [lineItems, discounts, applications] = await Promise.all([
      this.#children('line_items', company, ids, lineItemOf),
      this.#children('discounts', company, ids, discountOf),
      this.#children('payment_applications', company, ids, applicationOf),
    ]);
    return rows.map((row) => invoiceOf(row, lineItems.get(row.id) ?? [], discounts.get(row.id) ?? [], applications.get(row.id) ?? []));
  }

  async #children<T>(child: Child, company: Company, ids: readonly string[], childOf: (row: Row) => T): Promise<Map<string, T[]>> {
    const byInvoice = new Map<string, T[]>();
    for (const row of await this.#query(childStatement(child, company, ids))) {
      const list = byInvoice.get(row.invoice_id);
      if (list === undefined) byInvoice.set(row.invoice_id, [childOf(row)]);
      else list.push(childOf(row));
    }
    return byInvoice;
  }

  async #query({ name, text, values }: Statement): Promise<Row[]> {
    // The plain baseline represents pool.query(text, values); a named statement needs the form with an object.
    const result = await (this.#style === 'plain' ? this.#pool.query(text, [...values]) : this.#pool.query({ name, text, values: [...values] }));
    return result.rows as Row[];
  }
}

const lineItemOf = (row: Row) => ({
  id: row.id,
  position: row.position,
  name: row.name,
  description: row.description,
  quantity: row.quantity,
  unit_price_cents: row.unit_price_cents,
  subtotal_cents: row.subtotal_cents,
  taxable: row.taxable,
  discountable: row.discountable,
});

const discountOf = (row: Row) => ({ id: row.id, name: row.name, type: row.type, amount_cents: row.amount_cents, rate: row.rate });

const applicationOf = (row: Row) => ({ payment_id: row.payment_id, applied_cents: row.applied_cents, payment_status: row.payment_status });
type Application = ReturnType<typeof applicationOf>;

function invoiceOf(row: Row, lineItems: object[], discounts: object[], applications: Application[]): object {
  return {
    id: row.id,
    number: row.number,
    status: row.status,
    account: { id: row.account_id, name: row.account_name },
    job_id: row.job_id,
    location_id: row.location_id,
    maintenance_plan_id: row.maintenance_plan_id,
    business_unit: reference(row.business_unit_id, row.business_unit_name),
    job_type: reference(row.job_type_id, row.job_type_name),
    created_by: reference(row.created_by_id, row.created_by_name),
    job_class: row.job_class,
    created_at: row.created_at,
    updated_at: row.updated_at,
    issued_at: row.issued_at,
    due_at: row.due_at,
    currency: row.currency,
    pricing_multiplier: row.pricing_multiplier,
    line_items: lineItems,
    discounts,
    tax: { name: row.tax_name, rate: row.tax_rate, rounding: row.tax_rounding },
    amounts: amountsOf(row, applications),
    payment_applications: applications,
    aging: row.status === 'OPEN' ? { days_past_due: row.days_past_due, bucket: bucketOf(row.days_past_due) } : null,
  };
}

function reference(id: unknown, name: unknown): object | null {
  return id === null ? null : { id, name };
}
