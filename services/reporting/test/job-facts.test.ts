// What a job adds to the reports: its date, its revenue and its technicians.
import { randomUUID } from 'node:crypto';
import type { JobFinancials, JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { jobFactOf } from '../src/facts/jobs.ts';
import { financials, job, messageOf } from './records.ts';

const id = randomUUID();
const recorded = messageOf('job-financials', financials(id, 300)) as JobFinancials;
const invoice = (status: string, subtotal_cents: number): JobInvoice => ({
  id: randomUUID(),
  number: '1',
  status: `INVOICE_STATUS_${status}` as JobInvoice['status'],
  issued_at: null,
  subtotal_cents,
});
const work = (fields: Record<string, unknown> = {}): Job => messageOf('jobs', job({ id, ...fields })) as Job;
const participants = [
  { id: 'a', name: 'Ana' },
  { id: 'b', name: 'Bo' },
];
const factOf = (known: Job | undefined, ...invoices: JobInvoice[]) => jobFactOf(recorded, { job: known, invoices, participants });

test('a job counts when it was completed, or until it arrives when the line that was imported says that it was created', () => {
  const known = work({ created_at: '2026-03-05T15:00:00Z', completed_at: '2026-03-06T15:00:00Z' });
  expect([known, undefined].map((each) => factOf(each)!.reported_at)).toEqual([known.completed_at, recorded.created_at]);
});

test('the revenue of a job is that of its open and paid invoices, exact beyond the range of cents', () => {
  expect(factOf(work(), invoice('OPEN', 1), invoice('PAID', 2), invoice('DRAFT', 4), invoice('VOIDED', 8))!.revenue_cents).toBe(3);
  expect(factOf(work(), ...[1, 2].map((more) => invoice('OPEN', Number.MAX_SAFE_INTEGER - more)))!.revenue_cents).toBe(2n ** 54n - 5n);
});

test('a job counts for each of its technicians', () => {
  expect(factOf(work())!.members).toBe('{a,b}');
});

test.each([
  ['included', { job_type_included: true }, { id: randomUUID(), name: 'Repair' }, 'included_verified'],
  ['excluded without a type', { job_type_included: true }, null, 'excluded_verified'],
  ['excluded with a type that is not included', { job_type_included: false }, { id: randomUUID(), name: 'Repair' }, 'excluded_verified'],
  ['unverified', { job_type_included: true, verification_status: 'UNVERIFIED' }, { id: randomUUID(), name: 'Repair' }, 'included_unverified'],
  ['in no report if its costs are not tracked', { tracking_status: 'UNTRACKED' }, null, undefined],
])('a job is %s', (_, costing, job_type, standing) => {
  const line = financials(id, 300);
  const known = messageOf('job-financials', { ...line, costing: { ...line['costing'], ...costing } }) as JobFinancials;
  expect(jobFactOf(known, { job: work({ job_type }), invoices: [], participants: [] })?.standing).toBe(standing);
});
