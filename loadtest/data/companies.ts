// The companies of the benchmarks, derived from these few numbers, so that existing data can be reused.
import { createHash } from 'node:crypto';
import { generateInvoices, type BenchmarkCompany as Generated, type DemoFile } from '@truckroll/demo-company';

export interface DataSet {
  readonly database: string;
  readonly companies: number;
  readonly invoicesEach: number;
}

export const FULL: DataSet = { database: 'truckroll_reads', companies: 20, invoicesEach: 10_000 };
/** For developing the benchmarks only. */
export const QUICK: DataSet = { database: 'truckroll_reads_quick', companies: 4, invoicesEach: 1000 };

export interface BenchmarkCompany {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  /** Records by path; records that invoices refer to come first. */
  readonly files: readonly DemoFile[];
}

const OPTIONS = { timezone: 'America/Chicago', until: '2026-06-30T18:00:00Z' };
const SEED = 1;

export function evenCompanies(set: DataSet): BenchmarkCompany[] {
  const { companies, invoicesEach: invoicesPerCompany } = set;
  return [...generateInvoices({ ...OPTIONS, seed: SEED, companies, invoicesPerCompany })].map(identified);
}

function identified({ seed, name, timezone, files }: Generated): BenchmarkCompany {
  return { id: companyId(`truckroll benchmark ${seed}`), name: `${name} ${seed}`, timezone, files };
}

/** A version 8 UUID, which marks it as made up. */
export function companyId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
