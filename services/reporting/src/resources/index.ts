import type { Table } from '@truckroll/record-store';
import { jobFinancials } from './job-financials.ts';
import { revenueAttributions } from './revenue-attributions.ts';

/** Every record that reporting owns. */
export const tables: readonly Table[] = [jobFinancials, revenueAttributions] as readonly Table<any>[];
