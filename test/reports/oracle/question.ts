// A query to one of the four reports (decisions §2), for the oracle and the random questions.
import type { Bucket } from './dates.ts';

export type ReportName = 'invoice-activity' | 'collections' | 'job-profitability' | 'technician-participation-profitability';

export interface Question {
  report: ReportName;
  start: string;
  end: string;
  bucket: Bucket;
  groupBy: string | null;
  filters: Record<string, string[]>;
  includeExcluded: boolean;
}

export function pathOf({ report, start, end, bucket, groupBy, filters, includeExcluded }: Question, limit = 100): string {
  const query = new URLSearchParams({ start_date: start, end_date: end, bucket, limit: String(limit) });
  if (groupBy !== null) query.set('group_by', groupBy);
  for (const [name, values] of Object.entries(filters)) for (const value of values) query.append(name, value);
  if (includeExcluded) query.set('include_excluded_job_types', 'true');
  return `/v1/reports/${report}?${query.toString()}`;
}
