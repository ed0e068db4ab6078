import { inOrderOfReference, resource, type Field } from '@truckroll/contract';
import { buildEstimates, estimatesOf } from './billing/estimates.ts';
import { buildInvoice, invoicesOf } from './billing/invoices.ts';
import { buildPayment, buildRefunds, paymentsOf } from './billing/payments.ts';
import type { Company, DemoRecord, JobPlan, Records } from './company.ts';
import type { Candidate } from './ground.ts';
import { buildFinancials, buildRevenueAttributions } from './reporting.ts';
import { accountRef, buildAccount, buildContacts, buildLocations, contactRef, locationId } from './scheduling/customers.ts';
import { buildAssignments, buildVisit } from './scheduling/visits.ts';
import { equipmentFacts } from './scheduling/equipment.ts';
import { buildFormResponses } from './scheduling/form-responses.ts';
import { buildJobLeads } from './scheduling/job-leads.ts';
import { buildJob } from './scheduling/jobs.ts';
import { buildTimeEntries, buildTimesheets } from './scheduling/working-time.ts';
import { makerOf, unplanned } from './shapes/maker.ts';

const ofJobs = (about: Records['about']): Records => ({
  about,
  *all(company) {
    for (let n = 0; n < company.size.jobs; n++) yield* about(company, company.jobAt(n));
  },
});
const ofAccounts = (recordsOf: (company: Company, account: number) => Iterable<DemoRecord>): Records => ({
  about: (company, job) => recordsOf(company, job.account),
  *all(company) {
    for (let n = 0; n < company.size.accounts; n++) yield* recordsOf(company, n);
  },
});
const ofCompany = (all: Records['all'], some = all): Records => ({ all, about: some, shared: true });

/** Reference data and members, which a company has from the start; `some` are those that other records may name. */
function listed(path: string, list: (company: Company) => readonly Listed[], some = list): Records {
  const make = makerOf<object>(path);
  const recordsOf = (of: typeof list) => (company: Company) => of(company).map(({ n, given }) => make({ company, n }, given));
  return ofCompany(recordsOf(list), recordsOf(some));
}

interface Listed {
  readonly n: number;
  readonly given: object;
}

/** Plans of records that must agree with each other. Every other record of the contract is generated from its shape alone. */
const PLANNED = {
  'business-units': listed('business-units', ({ units }) => units),
  'lead-sources': listed('lead-sources', ({ leadSources }) => leadSources),
  tags: listed('tags', ({ tags }) => tags),
  'job-lifecycles': listed('job-lifecycles', ({ lifecycles }) => lifecycles),
  'job-types': listed('job-types', ({ jobTypes }) => jobTypes),
  'team-members': listed(
    'team-members',
    ({ members }) => members.all,
    ({ members }) => [...members.office, ...members.technicians],
  ),
  accounts: ofAccounts((company, n) => [buildAccount(company, n)]),
  contacts: ofAccounts(buildContacts),
  locations: ofAccounts(buildLocations),
  'job-leads': ofCompany(buildJobLeads),
  jobs: ofJobs((company, job) => [buildJob(company, job)]),
  'job-appointments': ofJobs((company, job) => job.visits.map((visit) => buildVisit(company, job, visit))),
  'job-assignments': ofJobs(buildAssignments),
  equipment: unplanned(resource('equipment'), equipmentFacts),
  'form-responses': ofJobs(buildFormResponses),
  timesheets: ofCompany(buildTimesheets),
  'time-entries': ofCompany(buildTimeEntries),
  estimates: { all: buildEstimates, about: estimatesOf },
  invoices: ofJobs((company, job) => invoicesOf(company, job).map((plan) => buildInvoice(company, plan))),
  payments: ofJobs((company, job) => paymentsOf(company, job).map((plan, p) => buildPayment(company, plan, p))),
  refunds: ofCompany(buildRefunds),
  'job-financials': ofJobs((company, job) => [buildFinancials(company, job)]),
  'revenue-attributions': ofJobs(buildRevenueAttributions),
} as const satisfies Record<string, Records>;

export type Planned = keyof typeof PLANNED;

/** The imported paths, in import order. Leaves out records whose id is a code: the contract defines them for every company. */
export const PATHS: readonly string[] = inOrderOfReference()
  .filter(({ record }) => record.byName.get('id')?.kind === 'uuid')
  .map(({ path }) => path);

const SOURCES: ReadonlyMap<string, Records> = new Map(PATHS.map((path) => [path, (PLANNED as Record<string, Records>)[path] ?? unplanned(resource(path))]));

export function sourceOf(path: string): Records {
  const source = SOURCES.get(path);
  if (source === undefined) throw new Error(`a company has no records at /v1/${path}`);
  return source;
}

type Said = (company: Company, job: JobPlan, required: boolean) => Candidate | null | undefined;

/** The references that a job itself provides, without a search; undefined when another record of the account or company must be used. */
const SAID: Readonly<Record<string, Said>> = {
  accounts: (company, job) => accountRef(company, job.account),
  contacts: (company, job, required) => (job.contact >= 0 ? contactRef(company, job.account, job.contact) : required ? undefined : null),
  locations: (company, job) => ({ id: locationId(company, job.account, job.location) }),
  jobs: (_, { id }) => ({ id }),
  'business-units': (_, { unit, type }, required) => (required ? type.unit.ref : unit),
  'job-types': (_, { jobType, type }, required) => (required ? type.ref : jobType),
  'job-lifecycles': (_, { lifecycle }) => lifecycle.ref,
};

export function saidBy(company: Company, job: JobPlan, path: string, field: Field): Candidate | null | undefined {
  const said = SAID[path]?.(company, job, !field.nullable);
  return said && said.name === undefined && field.kind === 'reference' ? undefined : said;
}

/** Maximum number of candidates for a path whose records are not related to particular jobs. */
const SOME = 50;
const shared = new WeakMap<Company, Map<string, readonly Candidate[]>>();

export function candidates(company: Company, path: string, job: JobPlan): readonly Candidate[] {
  const source = SOURCES.get(path);
  if (source === undefined) return [];
  if (source.shared !== true) return Array.from(source.about(company, job), candidateOf);
  let known = shared.get(company);
  if (known === undefined) shared.set(company, (known = new Map<string, readonly Candidate[]>()));
  let some = known.get(path);
  if (some === undefined) known.set(path, (some = firstOf(source.about(company, job))));
  return some;
}

function firstOf(records: Iterable<DemoRecord>): Candidate[] {
  const first: Candidate[] = [];
  for (const record of records) {
    if (first.push(candidateOf(record)) === SOME) break;
  }
  return first;
}

function candidateOf({ id, name, number }: DemoRecord): Candidate {
  return { id: String(id), name: String(name ?? number ?? id) };
}
