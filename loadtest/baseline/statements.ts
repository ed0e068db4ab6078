// The statements of both baselines. They share their SQL and differ in how they are sent: see Style.

/** Plain: everything is a parameter, planned at every call. Tuned: named, so planned once, with LIMIT as a literal. */
export type Style = 'plain' | 'tuned';

/** The plain baseline ignores the name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface Company {
  readonly id: string;
  readonly timeZone: string;
}

export interface Position {
  readonly createdAt: string;
  readonly id: string;
}

/** Joins names to the page's rows only: if they are joined first, the planner sometimes walks every account instead. */
const invoices = (which: string): string => `
  select i.*, a.name as account_name, b.name as business_unit_name, t.name as job_type_name, m.name as created_by_name,
    case when i.status = 'OPEN' then (now() at time zone $2)::date - (i.due_at at time zone $2)::date end as days_past_due
  from (select * from invoices where company_id = $1 ${which}) i
  left join accounts a on a.company_id = i.company_id and a.id = i.account_id
  left join business_units b on b.company_id = i.company_id and b.id = i.business_unit_id
  left join job_types t on t.company_id = i.company_id and t.id = i.job_type_id
  left join team_members m on m.company_id = i.company_id and m.id = i.created_by_id
  order by i.created_at, i.id`;

/** Selects one row more than the limit, to know whether there is a next page. */
export function pageStatement(style: Style, { id, timeZone }: Company, limit: number, after: Position | undefined): Statement {
  const values: unknown[] = after === undefined ? [id, timeZone] : [id, timeZone, after.createdAt, after.id];
  const rest = after === undefined ? '' : 'and (created_at, id) > ($3, $4)';
  const name = `page_${limit}_${values.length}`;
  const most = style === 'plain' ? `$${values.push(limit + 1)}` : String(limit + 1);
  return { name, text: invoices(`${rest} order by created_at, id limit ${most}`), values };
}

export function invoiceStatement({ id, timeZone }: Company, invoiceId: string): Statement {
  return { name: 'invoice', text: invoices('and id = $3'), values: [id, timeZone, invoiceId] };
}

const CHILDREN = {
  line_items: `
    select invoice_id, id, position, name, description, quantity, unit_price_cents, subtotal_cents, taxable, discountable
    from line_items where company_id = $1 and invoice_id = any($2) order by position, id`,
  discounts: `
    select invoice_id, id, name, type, amount_cents, rate
    from discounts where company_id = $1 and invoice_id = any($2) order by position, id`,
  payment_applications: `
    select a.invoice_id, a.payment_id, a.applied_cents, p.status as payment_status
    from payment_applications a join payments p on p.company_id = a.company_id and p.id = a.payment_id
    where a.company_id = $1 and a.invoice_id = any($2) order by p.created_at, p.id`,
};
export type Child = keyof typeof CHILDREN;

export function childStatement(child: Child, company: Company, invoiceIds: readonly string[]): Statement {
  return { name: child, text: CHILDREN[child], values: [company.id, invoiceIds] };
}
