// Records behind the figures of reports, by the API's description. Amounts are in cents.
import type { components } from '@truckroll/client';

type Schemas = components['schemas'];

export type InvoiceRecord = Schemas['Invoice'];
export type JobRecord = Schemas['JobFinancials'];

export interface RecordOf {
  readonly invoices: InvoiceRecord;
  readonly payments: Schemas['Payment'];
  /** Refunds have no number. */
  readonly refunds: Schemas['Refund'] & { readonly number?: undefined };
  readonly jobs: JobRecord;
}

export type RecordKind = keyof RecordOf;
export type ApiRecord = RecordOf[RecordKind];

/** For each kind of record, what follows from one of them. */
export type Reading<T> = { readonly [K in RecordKind]: (record: RecordOf[K]) => T };
