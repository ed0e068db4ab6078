import { buildCompany } from './build-company.ts';
import type { Company } from './company.ts';
import { buildEstimates } from './billing/estimates.ts';
import { buildInvoices } from './billing/invoices.ts';
import { buildPayments } from './billing/payments.ts';
import { buildRefunds } from './billing/refunds.ts';
import type { DemoOptions } from './options.ts';
import { hash, stream } from './random/keyed.ts';
import { jobClasses } from './reference/job-classes.ts';
import { buildJobFinancials } from './reporting/job-financials.ts';
import { buildRevenueAttributions } from './reporting/revenue-attributions.ts';
import { buildAccount } from './scheduling/accounts.ts';
import { buildAssignments } from './scheduling/assignments.ts';
import { buildContacts } from './scheduling/contacts.ts';
import { buildEquipment } from './scheduling/equipment.ts';
import { buildFormResponses } from './scheduling/form-responses.ts';
import { buildJobLeads } from './scheduling/job-leads.ts';
import { buildJobs } from './scheduling/jobs.ts';
import { buildLocations } from './scheduling/locations.ts';
import { buildTimeEntries } from './scheduling/time-entries.ts';
import { buildTimesheets } from './scheduling/timesheets.ts';
import { buildVisits } from './scheduling/visits.ts';
import { BUSINESS_FIRST } from './words/names.ts';

export type DemoRecord = { readonly [field: string]: unknown; };

/** The records of one path, as `<path>.ndjson` holds them one a line. They can be iterated as often as wanted. */
export interface DemoFile {
  readonly path: string;
  readonly records: Iterable<DemoRecord>;
}

type Source = (company: Company) => Iterable<DemoRecord>;

/** In the order of an import: what others refer to comes first, wherever there is such an order. */
export const SOURCES = {
  'business-units': (company) => company.units.map(({ record }) => record),
  'lead-sources': (company) => company.leadSources.map(({ record }) => record),
  tags: (company) => company.tags.map(({ record }) => record),
  'job-classes': () => jobClasses(),
  'job-lifecycles': (company) => company.lifecycles.map(({ record }) => record),
  'job-types': (company) => company.jobTypes.map(({ record }) => record),
  'team-members': (company) => company.members.all.map(({ record }) => record),
  accounts: (company) => each(company, (n) => [buildAccount(company, n)]),
  contacts: (company) => each(company, (n) => buildContacts(company, n)),
  locations: (company) => each(company, (n) => buildLocations(company, n)),
  'job-leads': buildJobLeads,
  jobs: buildJobs,
  'job-appointments': buildVisits,
  'job-assignments': buildAssignments,
  equipment: buildEquipment,
  'form-responses': buildFormResponses,
  timesheets: buildTimesheets,
  'time-entries': buildTimeEntries,
  estimates: buildEstimates,
  invoices: buildInvoices,
  payments: buildPayments,
  refunds: buildRefunds,
  'job-financials': buildJobFinancials,
  'revenue-attributions': buildRevenueAttributions,
} as const satisfies Record<string, Source>;

export type Path = keyof typeof SOURCES;

function* each(company: Company, recordsOf: (account: number) => Iterable<DemoRecord>): Iterable<DemoRecord> {
  for (let n = 0; n < company.size.accounts; n++) yield* recordsOf(n);
}

export function filesOf(company: Company, paths: readonly Path[] = Object.keys(SOURCES) as Path[]): DemoFile[] {
  return paths.map((path) => ({
    path,
    records: { [Symbol.iterator]: () => (SOURCES[path] as Source)(company)[Symbol.iterator]() },
  }));
}

/**
 * A field-service company of the chosen size in the public record shapes (decisions §1), file by file and record by
 * record: nothing is kept, so any size takes the same memory. The same options give the same records; another seed
 * shares no id. Throws RangeError when an option cannot be used.
 */
export function generateCompany(options: DemoOptions): DemoFile[] {
  return filesOf(buildCompany(options));
}

const NAMES = stream('names of companies');
const ENDINGS = ['Comfort & Plumbing', 'Home Services', 'Heating & Air', 'Mechanical'];

/** A name for the company; with its zone and currency it is what a company record needs besides an id. */
export function describeCompany({ seed, timezone }: Pick<DemoOptions, 'seed' | 'timezone'>) {
  const die = hash(seed, NAMES, 0);
  const first = BUSINESS_FIRST[die % 18] as string;
  return { name: `${first} ${ENDINGS[(die >>> 16) % ENDINGS.length]}`, timezone, currency: 'USD' as const };
}
