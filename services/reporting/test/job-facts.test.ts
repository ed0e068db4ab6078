// What a job adds to the reports: its date, its revenue and its technicians.
import { randomUUID } from 'node:crypto';
import type { JobFinancials, JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { jobFactOf } from '../src/facts/jobs.ts';
import { financials, job, messageOf } from './records.ts';

const id = randomUUID();
const recorded = messageOf('job-financials', financials(id, 300)) as JobFinancials;
const [CREATED, COMPLETED] = [Date.parse('2026-03-05T15:00:00Z') * 1000, Date.parse('2026-03-06T15:00:00Z') * 1000];
const work = (completed_at: string | null = '2026-03-06T15:00:00Z'): Job =>
  messageOf('jobs', job({ id, created_at: '2026-03-05T15:00:00Z', completed_at })) as Job;
const invoice = (status: string, issued_at: number | null, subtotal_cents = 0): JobInvoice => ({
  id: randomUUID(),
  number: '1',
  status: `INVOICE_STATUS_${status}` as JobInvoice['status'],
  issued_at,
  subtotal_cents,
});

const factOf = (known: Job | undefined, ...invoices: JobInvoice[]) => jobFactOf(recorded, { job: known, invoices, participants: [] });

test.each<[string, number, Parameters<typeof factOf>]>([
  [
    'of its first invoice that counts',
    30,
    [work(), invoice('VOIDED', 10), invoice('DRAFT', 20), invoice('PAID', 50), invoice('OPEN', 30), invoice('OPEN', 40)],
  ],
  ['of its completion without an invoice that counts', COMPLETED, [work(), invoice('VOIDED', 10), invoice('OPEN', null)]],
  ['of its creation until it is complete', CREATED, [work(null)]],
  ['of the line that was imported until the job arrives', recorded.created_at, [undefined]],
])('a job counts at the time %s', (_, at, of) => {
  expect(factOf(...of)!.reported_at).toBe(at);
});

test('the revenue of a job is that of its open and paid invoices', () => {
  expect(factOf(work(), invoice('OPEN', 1, 1), invoice('PAID', 1, 2), invoice('DRAFT', 1, 4), invoice('VOIDED', 1, 8))!.revenue_cents).toBe(3);
});

test('a job counts for each of its technicians', () => {
  const participants = [
    { id: 'a', name: 'Ana' },
    { id: 'b', name: 'Bo' },
  ];
  expect(jobFactOf(recorded, { job: work(), invoices: [], participants })!.members).toEqual(['a', 'b']);
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
  const work = messageOf('jobs', job({ id, job_type })) as Job;
  expect(jobFactOf(known, { job: work, invoices: [], participants: [] })?.standing).toBe(standing);
});
