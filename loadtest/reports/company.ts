// The company whose reports are measured. `rows.sql` makes its records.
import { createHash } from 'node:crypto';
import { emptyCompany, type BenchmarkCompany } from '../data/companies.ts';

/** `name` is that of the database; `events` are those of ingest_cost, for each side. */
const FULL = { name: 'truckroll_reports', invoices: 1_000_000, jobs: 300_000, accounts: 20_000, events: 100_000 };
/** For developing the benchmark only. */
const QUICK: ReportSet = { name: 'truckroll_reports_quick', invoices: 20_000, jobs: 6000, accounts: 1000, events: 2000 };

export type ReportSet = typeof FULL;

export function setOf(quick: boolean): ReportSet {
  return quick ? QUICK : FULL;
}

/** Period of the measured records; the benchmark's own changes come after it. */
export const YEARS = { start: '2021-01-01', end: '2026-01-01' };

export function measuredCompany({ name }: ReportSet): BenchmarkCompany {
  return { ...emptyCompany(name), name: 'Benchmark of reports' };
}

/** The ids of rows.sql. */
export function idOf(kind: 'unit' | 'type' | 'member', number: number): string {
  const hex = createHash('md5').update(`${kind}${number}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
