import { resources, type Parameter, type Resource } from '@truckroll/contract';
import { valuesAt, type Json } from '../support/expected.ts';
import type { System, TestCompany } from '../support/system.ts';

const REPORTS = {
  'invoice-activity': ['account', 'business_unit', 'job_type', 'job_class'],
  collections: ['account', 'payment_method', 'collector'],
  'job-profitability': ['business_unit', 'job_type', 'job_class', 'account'],
  'technician-participation-profitability': [],
};
const RANGE = 'start_date=2023-01-01&end_date=2027-01-01';
const TRIED = 3;
const AT_ONCE = 8;

/** The URLs to read: every filter with some values that occur in the records, and the details of a few records. */
export function addressesOf(records: ReadonlyMap<string, readonly Json[]>): string[] {
  return [
    ...resources.flatMap((of) => {
      const all = records.get(of.path) ?? [];
      const filters = of.list.parameters.filter(({ filter }) => filter !== undefined);
      return [
        `/v1/${of.path}?limit=100`,
        ...filters.flatMap((parameter) =>
          tried(of, parameter, records).map((value) => `/v1/${of.path}?limit=100&${parameter.name}=${encodeURIComponent(value)}`),
        ),
        ...all.slice(0, TRIED).map(({ id }) => `/v1/${of.path}/${id}`),
      ];
    }),
    ...Object.entries(REPORTS).flatMap(([report, groups]) =>
      ['', ...groups.map((group) => `&group_by=${group}`)].flatMap((group) =>
        ['month', 'year'].map((bucket) => `/v1/reports/${report}?limit=100&${RANGE}&bucket=${bucket}${group}`),
      ),
    ),
    ...['', '&group_by=account', '&group_by=business_unit', '&group_by=job_type'].map((group) => `/v1/reports/receivables?limit=100${group}`),
  ];
}

/** Where the values of a search, telephone number or e-mail address come from. */
const SEARCHED: Record<string, string[]> = { search: ['name', 'number'], phone: ['phone', 'channels.value'], email: ['email', 'channels.value'] };

function tried({ path }: Resource, { field, filter }: Parameter, records: ReadonlyMap<string, readonly Json[]>): string[] {
  const searched = SEARCHED[filter!.comparison];
  if (searched !== undefined) {
    const all = (records.get(path) ?? []).flatMap((record) => searched.flatMap((at) => valuesAt(record, at) as string[]));
    return [...new Set(all.filter((value) => filter!.comparison === 'search' || value.includes('@') === (filter!.comparison === 'email')))].slice(0, TRIED);
  }
  if (field.kind === 'cents') return ['1', '10000'];
  if (field.kind === 'boolean') return ['true', 'false'];
  if (field.enum !== undefined) return [...field.enum.spellings.values()];
  const own = filter!.field === '' ? [] : (records.get(path) ?? []).flatMap((record) => valuesAt(record, filter!.field));
  // Filters that search through other records are tried with the ids of those records.
  const others = ['locations', 'team-members', 'jobs'].flatMap((other) => (records.get(other) ?? []).slice(0, TRIED).map(({ id }) => id));
  const values = own.length > 0 ? own : field.kind === 'uuid' ? others : ['2025-06-01'];
  const date = field.kind === 'local_date' || field.kind === 'date';
  return [...new Set(values.map(String))].slice(0, field.kind === 'uuid' ? others.length : TRIED).map((value) => (date ? value.slice(0, 10) : value));
}

/** The answer of each URL, without the parts that differ between requests. */
export async function answersOf(system: System, company: TestCompany, addresses: readonly string[]): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  const left = [...addresses];
  const work = async (): Promise<void> => {
    for (let address = left.pop(); address !== undefined; address = left.pop()) {
      const { status, body } = await system.get(company, address);
      const { as_of: _, ...report } = body.report ?? {};
      answers.set(address, {
        status,
        data: body.data,
        error: body.error?.code,
        details: body.error?.details,
        more: body.pagination?.next_cursor != null,
        report,
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}
