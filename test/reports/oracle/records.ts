import type { Json } from '../../support/expected.ts';
import type { System, TestCompany } from '../../support/system.ts';

const PATHS = [
  'accounts',
  'business-units',
  'job-types',
  'job-classes',
  'team-members',
  'jobs',
  'job-assignments',
  'job-financials',
  'invoices',
  'payments',
  'refunds',
] as const;

export interface Settings {
  timezone: string;
  costing: boolean;
  verifiedOnly: boolean;
}

export type Records = Settings & Record<(typeof PATHS)[number], Json[]>;

export async function readRecords(system: System, company: TestCompany, settings: Settings): Promise<Records> {
  const read = await Promise.all(PATHS.map(async (path) => [path, await readAll(system, company, `/v1/${path}?limit=100`)] as const));
  return { ...settings, ...Object.fromEntries(read) } as Records;
}

export async function readAll(system: System, company: TestCompany, path: string): Promise<Json[]> {
  const rows: Json[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await system.get(company, `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    rows.push(...body.data);
    if (body.pagination.next_cursor === null) return rows;
    cursor = body.pagination.next_cursor;
  }
}
