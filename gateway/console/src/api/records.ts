// The records behind the reports' figures, with the fields that the console reads. Amounts are in cents.

export interface Reference {
  readonly id: string;
  readonly name: string;
}

interface Common {
  readonly id: string;
  /** Refunds have none. */
  readonly number?: string | null;
  readonly account: Reference;
}

/** What invoices and jobs say about the work. */
export interface Work {
  readonly account: Reference;
  readonly business_unit: Reference | null;
  readonly job_type: Reference | null;
  readonly job_class: string | null;
}

export interface InvoiceRecord extends Common, Work {
  readonly status: string;
  readonly issued_at: string | null;
  readonly due_at: string | null;
  readonly job_id: string | null;
  readonly amounts: {
    readonly subtotal_cents: number;
    readonly discount_cents: number;
    readonly discounted_subtotal_cents: number;
    readonly tax_cents: number;
    readonly total_cents: number;
    readonly paid_cents: number;
    readonly open_balance_cents: number;
  };
  readonly line_items: readonly { readonly id: string; readonly name: string; readonly quantity: number; readonly subtotal_cents: number }[];
  /** null unless the invoice is open. */
  readonly aging: { readonly bucket: string } | null;
}

interface PaymentRecord extends Common {
  readonly status: string | null;
  readonly occurred_at: string;
  readonly method: string;
  readonly collected_by: Reference | null;
  readonly amount_cents: number;
  readonly invoice_allocations: readonly { readonly invoice_id: string; readonly applied_cents: number }[];
}

interface RefundRecord extends Common {
  readonly status: string;
  readonly occurred_at: string;
  readonly payment_method: string;
  readonly payment_id: string;
  readonly collected_by: Reference | null;
  readonly amount_cents: number;
}

export interface JobRecord extends Common, Work {
  readonly report_date: string;
  readonly participants: readonly Reference[];
  readonly costing: { readonly tracking_status: string; readonly verification_status: string };
  readonly totals: {
    readonly revenue_cents: number;
    readonly labor_cost_cents: number;
    readonly parts_cost_cents: number;
    readonly equipment_cost_cents: number;
    readonly misc_cost_cents: number;
    readonly other_cost_cents: number;
    readonly total_cost_cents: number;
    readonly gross_profit_cents: number;
    readonly gross_margin: number;
  };
  readonly invoices: readonly { readonly id: string; readonly number: string; readonly status: string; readonly subtotal_cents: number }[];
  readonly cost_entries: readonly { readonly id: string; readonly name: string; readonly category: string; readonly total_cents: number }[];
}

export interface RecordOf {
  readonly invoices: InvoiceRecord;
  readonly payments: PaymentRecord;
  readonly refunds: RefundRecord;
  readonly jobs: JobRecord;
}

export type RecordKind = keyof RecordOf;
export type ApiRecord = RecordOf[RecordKind];

/** For each kind of record, what follows from one of them. */
export type Reading<T> = { readonly [K in RecordKind]: (record: RecordOf[K]) => T };
