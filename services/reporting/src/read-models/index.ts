import { assignments } from './assignments.ts';
import { companies } from './companies.ts';
import type { ReadModel } from './read-model.ts';
import { invoices } from './invoices.ts';
import { jobs } from './jobs.ts';
import { payments } from './payments.ts';
import { refunds } from './refunds.ts';
import type { RecordReadModel } from './record-read-model.ts';

/** Read models of public records, which can be held against their owners'. */
export const recordReadModels: readonly RecordReadModel[] = [jobs, assignments, invoices, payments, refunds];

/** What reporting keeps of the other services' records. */
export const readModels: readonly ReadModel[] = [companies, ...recordReadModels];
