// The company whose reports are measured, derived from these numbers.
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

export const UNITS = 12;
export const JOB_TYPES = 40;
export const MEMBERS = 60;
export const TIMEZONE = 'America/Chicago';
/** Period of the measured records; the benchmark's own changes come after it. */
export const YEARS = { start: '2021-01-01', end: '2026-01-01' };
/** Jobs without an invoice in these years; the changes go to them. */
export const SPARE_JOBS = 1000;

export function measuredCompany({ name }: ReportSet) {
  return { id: companyId(name), name: 'Benchmark of reports', timezone: TIMEZONE, files: [] };
}

const PREFIX = { invoice: '1', payment: '2', refund: '3', job: '4', assignment: '5', account: '6', unit: '7', type: '8', member: '9' };

/** Ids in no order of time, like real ones, and the same in every run. */
export function idOf(kind: keyof typeof PREFIX, number: number): string {
  const mixed = [1, 2, 3].map((round) => (Math.imul(number + 1, 0x9e3779b1 * round) ^ Math.imul(number + round, 0x85ebca6b)) >>> 0);
  const hex = mixed.map((value) => value.toString(16).padStart(8, '0')).join('');
  const place = (number + 1).toString(16).padStart(7, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-a${hex.slice(15, 18)}-${hex.slice(18, 22)}${PREFIX[kind]}${place}`;
}
