// The companies of the benchmarks, derived from these few numbers, so that existing data can be reused.
import { createHash } from 'node:crypto';
import { generateInvoices, type DemoFile } from '@truckroll/demo-company';

const FULL = { database: 'truckroll_reads', companies: 20, invoicesPerCompany: 10_000 };
/** For developing the benchmarks only. */
const QUICK: DataSet = { database: 'truckroll_reads_quick', companies: 4, invoicesPerCompany: 1000 };
export type DataSet = typeof FULL;

export function setOf(quick: boolean): DataSet {
  return quick ? QUICK : FULL;
}

export interface BenchmarkCompany {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  /** Records by path; records that invoices refer to come first. */
  readonly files: readonly DemoFile[];
}

/** Time zone of every company, and the end of its records. */
export const TIMEZONE = 'America/Chicago';
export const UNTIL = '2026-06-30T18:00:00Z';
const SEED = 1;

export function evenCompanies({ companies, invoicesPerCompany }: DataSet): BenchmarkCompany[] {
  const generated = [...generateInvoices({ timezone: TIMEZONE, until: UNTIL, seed: SEED, companies, invoicesPerCompany })];
  return generated.map(({ seed, name, ...company }) => ({ ...company, id: companyId(`truckroll benchmark ${seed}`), name: `${name} ${seed}` }));
}

/** A version 8 UUID, which marks it as made up. */
export function companyId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A company without records, under an id that the name always has. */
export function emptyCompany(name: string): BenchmarkCompany {
  return { id: companyId(name), name, timezone: TIMEZONE, files: [] };
}
