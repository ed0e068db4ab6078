// The company whose reports are measured. `rows.sql` makes its records.
import { createHash } from 'node:crypto';
import { companyId } from '../data/companies.ts';

export interface ReportSet {
  /** Name of the database and of its servers' folder: each set has separate topics. */
  readonly name: string;
  readonly invoices: number;
  readonly jobs: number;
  readonly accounts: number;
  readonly deepPage: number;
  /** Events of ingest_cost, for each side. */
  readonly events: number;
}

export const FULL: ReportSet = { name: 'truckroll_reports', invoices: 1_000_000, jobs: 300_000, accounts: 20_000, deepPage: 500, events: 100_000 };
/** For developing the benchmark only. */
export const QUICK: ReportSet = { name: 'truckroll_reports_quick', invoices: 20_000, jobs: 6000, accounts: 1000, deepPage: 100, events: 2000 };

export const TIMEZONE = 'America/Chicago';
/** Period of the measured records; the benchmark's own changes come after it. */
export const YEARS = { start: '2021-01-01', end: '2026-01-01' };

export function measuredCompany({ name }: ReportSet) {
  return { id: companyId(name), name: 'Benchmark of reports', timezone: TIMEZONE, files: [] };
}

/** The ids of rows.sql. */
export function idOf(kind: 'unit' | 'type' | 'member', number: number): string {
  const hex = createHash('md5').update(`${kind}${number}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
