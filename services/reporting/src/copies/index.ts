import { assignments } from './assignments.ts';
import { companies } from './companies.ts';
import type { Copy } from './copy.ts';
import { invoices } from './invoices.ts';
import { jobs } from './jobs.ts';

/** What reporting keeps of the other services' records. */
export const copies: readonly Copy[] = [companies, jobs, assignments, invoices];
