import { assignments } from './assignments.ts';
import { companies } from './companies.ts';
import type { Copy } from './copy.ts';
import { invoices } from './invoices.ts';
import { jobs } from './jobs.ts';
import { payments } from './payments.ts';
import { refunds } from './refunds.ts';
import type { RecordCopy } from './record-copy.ts';

/** Copies of public records, which can be held against their owners'. */
export const recordCopies: readonly RecordCopy[] = [jobs, assignments, invoices, payments, refunds];

/** What reporting keeps of the other services' records. */
export const copies: readonly Copy[] = [companies, ...recordCopies];
