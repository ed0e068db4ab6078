import { ApiError, codec, shapeNamed, type BucketName, type Field } from '@truckroll/contract';
import type { ReportsServiceService } from '@truckroll/contract/gen/reporting/v1/reports';
import type { Handlers } from '@truckroll/grpc';
import type { Database, Transaction } from '@truckroll/postgres';
import type { NameCache } from '@truckroll/record-store';
import { countedStandings } from '../facts/standing.ts';
import { COLLECTIONS, INVOICES, JOBS, NONE, PARTICIPATION, type SummaryDefinition } from '../facts/definitions.ts';
import { dueOf } from '../sums/due.ts';
import { neededVersion, passGate } from './gate.ts';
import { labelsOf } from './labels.ts';
import { dayOf, readPage } from './page.ts';
import { dateOf } from './periods.ts';
import { figuresOf } from './rows.ts';
import { reportSettings, type ReportSettings } from './settings.ts';
import type { ReportQuestion } from './sources.ts';

interface ReportDefinition {
  name: string;
  summary: SummaryDefinition;
  filters: Readonly<Record<string, string>>;
  standings(request: Request, settings: ReportSettings): readonly string[];
  /** The response contains the settings for job costs. */
  costing?: true;
}

type Request = Record<string, unknown> & {
  collection: { company_id: string; limit: number; after: Uint8Array } | null;
  start_date: string;
  end_date: string;
  bucket: string;
};

const ID_FILTERS = { account_id: 'account', business_unit_id: 'business_unit', job_type_id: 'job_type', job_class: 'job_class' };
const OF_JOBS: Pick<ReportDefinition, 'standings' | 'costing'> = {
  standings: (request, settings) => countedStandings(settings, request['include_excluded_job_types'] === true),
  costing: true,
};

const invoiceActivity: ReportDefinition = {
  name: 'InvoiceActivity',
  summary: INVOICES,
  filters: ID_FILTERS,
  standings: (request) => spelled(fieldOf('InvoiceActivity', 'status'), request['status']),
};
const collections: ReportDefinition = {
  name: 'Collections',
  summary: COLLECTIONS,
  filters: { method: 'payment_method', account_id: 'account', collected_by_id: 'collector' },
  standings: () => [''],
};
const jobProfitability: ReportDefinition = {
  name: 'JobProfitability',
  summary: JOBS,
  filters: { job_class: 'job_class', job_type_id: 'job_type', business_unit_id: 'business_unit' },
  ...OF_JOBS,
};
const participation: ReportDefinition = {
  name: 'TechnicianParticipationProfitability',
  summary: PARTICIPATION,
  filters: { job_class: 'job_class', team_member_id: 'team_member' },
  ...OF_JOBS,
};

/**
 * Reads settings, what is due, sums, facts and freshness from one snapshot, so that they are consistent. Errors: 503 while more facts of the
 * range are due than a report adds up; 500 for a figure beyond ±(2^53−1).
 */
export function reportHandlers(database: Database, names: NameCache): Handlers<typeof ReportsServiceService> {
  const answer = (definition: ReportDefinition) => (request: unknown) =>
    database.transaction((tx) => read(tx, definition, names, request as Request), { isolation: 'REPEATABLE READ', readOnly: true });
  return {
    getInvoiceActivityReport: answer(invoiceActivity),
    getCollectionsReport: answer(collections),
    getJobProfitabilityReport: answer(jobProfitability),
    getTechnicianParticipationProfitabilityReport: answer(participation),
  };
}

async function read(tx: Transaction, definition: ReportDefinition, names: NameCache, request: Request): Promise<Buffer> {
  const { collection } = request;
  if (collection === null) throw ApiError.internal(new Error('a report request has no company'));
  const { company_id: companyId, limit, after } = collection;
  const { name, summary } = definition;
  const settings = await reportSettings(tx, companyId, summary.name);
  const [groupBy = null] = spelled(fieldOf(name, 'group_by'), request['group_by']);
  const [bucket] = spelled(fieldOf(name, 'bucket'), request.bucket) as [BucketName];
  const asked = { summary, groupBy, filters: filtersOf(definition, request) };
  const question: ReportQuestion = {
    ...asked,
    companyId,
    timeZone: settings.timeZone,
    due: dueOf(settings.summed, settings.timeZone, neededVersion(asked), settings.dates),
    standings: definition.standings(request, settings),
  };
  const range = { start: dayOf(request.start_date), end: dayOf(request.end_date) };
  await passGate(tx, question, range);
  const page = await readPage(tx, question, { range, bucket, limit, after });
  const values = page.rows.map(({ sums }) => sums.value);
  const labels = groupBy === null ? undefined : await labelsOf(tx, names, companyId, groupBy, values);
  const data = page.rows.map(({ period, sums: { value, measures } }) => {
    const period_start = dateOf(period.start);
    const group = groupBy === null || labels === undefined ? null : groupOf(groupBy, value, labels);
    const place = { period: period_start, group: group && (group.value ?? 'null') };
    return { period_start, period_end: dateOf(period.end), group, currency: 'USD', ...figuresOf(summary, measures, place) };
  });
  const response = { data, next: Buffer.from(page.next), report: reportOf(definition, request, settings), time_zone: settings.timeZone };
  return Buffer.from(codec(`truckroll.reporting.v1.Get${name}ReportResponse`).encode(response).finish());
}

function groupOf(groupBy: string, value: string, labels: (value: string) => string) {
  const participation = groupBy === 'team_member';
  const prefix = participation ? 'TECHNICIAN_PARTICIPATION_GROUP_BY' : 'SUMMARY_DIMENSION';
  const dimension = `${prefix}_${groupBy.toUpperCase()}`;
  return value === NONE ? { dimension, value: null, label: null } : { dimension, value, label: labels(value) };
}

function reportOf(definition: ReportDefinition, request: Request, { costingEnabled, verifiedOnly, asOf }: ReportSettings): Record<string, unknown> {
  const { collection: _, ...parameters } = request;
  const lists = Object.fromEntries(
    Object.keys(definition.filters).map((parameter) => {
      const values = request[parameter] as readonly string[];
      return [parameter, values.length === 0 ? null : { values }];
    }),
  );
  const costing = definition.costing === true ? { costing_enabled: costingEnabled, verified_only: verifiedOnly } : {};
  return { ...parameters, ...lists, ...costing, as_of: asOf };
}

function filtersOf({ name, filters }: ReportDefinition, request: Request): Map<string, string[]> {
  return new Map(
    Object.entries(filters).flatMap(([parameter, dimension]) => {
      const values = spelled(fieldOf(name, parameter), request[parameter]);
      return values.length === 0 ? [] : [[dimension, values] as const];
    }),
  );
}

function fieldOf(name: string, parameter: string): Field {
  const field = shapeNamed(`truckroll.reporting.v1.Get${name}ReportRequest`).byName.get(parameter);
  if (field === undefined) throw new Error(`the report ${name} has no parameter ${parameter}`);
  return field;
}

function spelled(field: Field, value: unknown): string[] {
  if (value === null || value === undefined) return [];
  const values = (Array.isArray(value) ? value : [value]) as string[];
  return values.map((item) => field.enum?.spellings.get(item) ?? item);
}
