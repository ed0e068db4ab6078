import { parsed, type Client, type Operation, type Turn, type World } from './api.ts';

const REPORTS: readonly (readonly [Operation, string])[] = [
  ['report_invoice_activity', 'invoice-activity?group_by=job_type&bucket=month'],
  ['report_collections', 'collections?group_by=payment_method&bucket=month'],
  ['report_job_profitability', 'job-profitability?group_by=job_class&bucket=month'],
  ['report_participation', 'technician-participation-profitability?bucket=month'],
];

export async function report(client: Client, { credentials: { usual, huge }, period }: World, { number }: Turn): Promise<void> {
  const [operation, query] = REPORTS[number % REPORTS.length] as (typeof REPORTS)[number];
  // Every other round uses the huge company, if there is one.
  const credential = Math.floor(number / REPORTS.length) % 2 === 1 ? (huge ?? usual) : usual;
  const path = `/v1/reports/${query}&start_date=${period.start}&end_date=${period.end}`;
  const answer = await client.ask(operation, { path, credential, expect: [200] });
  if (!client.thorough || answer.status !== 200) return;
  const { data, report: about } = parsed<{ data?: unknown; report?: { start_date?: unknown; as_of?: unknown } }>(answer);
  if (!Array.isArray(data)) client.wrong(operation, 'data is no list');
  if (about?.start_date !== period.start) client.wrong(operation, 'report.start_date is not what was asked for');
}
