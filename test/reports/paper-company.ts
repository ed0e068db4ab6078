// The company in docs/reference/reports.md: the page's tables as lines to import, and its questions with their answers.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { generateCompany } from '@truckroll/demo-company';
import type { Json } from '../support/expected.ts';

export const TIMEZONE = 'America/Chicago';
const page = readFileSync(new URL('../../docs/reference/reports.md', import.meta.url), 'utf8');

type Row = Record<string, string>;

function table(heading: string): Row[] {
  const section = page.split(`### ${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const [names = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return rows.map((cells) => Object.fromEntries(names.map((name, n) => [name, cells[n] ?? ''])));
}

export function questions(): { path: string; format: 'json' | 'csv'; answer: string }[] {
  return [...page.matchAll(/```http\nGET (\S+)\n```\n+```(json|csv)\n([^`]*)```/g)].map(([, path = '', format, answer = '']) => ({
    path,
    format: format as 'json' | 'csv',
    answer,
  }));
}

/** Converts dollars to cents by removing the point, without rounding. */
const cents = (dollars: string): number => Number(dollars.replace('.', ''));
const instant = (clock: string): string => new Date(`${clock.replace(' ', 'T')}:00-06:00`).toISOString();

function id(name: string): string {
  const known = table('Team members').find(({ Name }) => Name === name)?.['Id'];
  const digits = createHash('sha256').update(name).digest('hex');
  return known ?? `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

const named = (name: string | undefined): Json | null => (name === undefined || name === '–' ? null : { id: id(name), name });

export function paperCompany(): [path: string, lines: Json[]][] {
  const demo = generateCompany({ seed: 1, size: 20, timezone: TIMEZONE, until: '2026-03-10T16:00:00Z' });
  const templates = Object.fromEntries(demo.map(({ path, records }) => [path, [...records][0] as Json]));
  const line = (path: string, fields: Json): Json => ({ ...templates[path], ...fields });
  const jobs = table('Jobs');
  const jobOf = (number: string | undefined): Row => jobs.find(({ Job }) => Job === number) as Row;
  const workOf = (job: Row): Json => ({ account: named(job['Customer']), business_unit: null, job_type: named(job['Type']), job_class: job['Class'] });
  const madeAt = (job: Row): string => instant(job['Completed'] as string);
  const visits = jobs.flatMap((job) => (job['Assigned'] as string).split(', ').map((member, n) => ({ job, member, visit: `visit ${job['Job']}-${n}` })));
  const payments = table('Payments');
  return [
    ['team-members', table('Team members').map(({ Name, Id }) => line('team-members', { id: Id, name: Name, status: 'INACTIVE' }))],
    [
      'jobs',
      jobs.map((job) =>
        line('jobs', {
          id: id(`job ${job['Job']}`),
          number: job['Job'],
          ...workOf(job),
          created_at: '2026-01-02T15:00:00Z',
          completed_at: madeAt(job),
          canceled_at: null,
          cancellation_reason: null,
        }),
      ),
    ],
    ['job-appointments', visits.map(({ job, visit }) => line('job-appointments', { id: id(visit), number: visit, job_id: id(`job ${job['Job']}`) }))],
    [
      'job-assignments',
      visits.map(({ job, member, visit }) =>
        line('job-assignments', { id: id(`seat ${visit}`), job_id: id(`job ${job['Job']}`), appointment_id: id(visit), team_member: named(member) }),
      ),
    ],
    [
      'invoices',
      table('Invoices').map((invoice) => {
        const [subtotal, discount, tax, total] = ['Subtotal', 'Discount', 'Tax', 'Total'].map((name) => cents(invoice[name] as string)) as [
          number,
          number,
          number,
          number,
        ];
        const [item] = templates['invoices']!['line_items'] as [Json];
        const job = jobOf(invoice['Job']);
        return line('invoices', {
          id: id(`invoice ${invoice['Invoice']}`),
          number: invoice['Invoice'],
          status: invoice['Status'],
          ...workOf(job),
          job_id: id(`job ${job['Job']}`),
          issued_at: instant(invoice['Issued'] as string),
          due_at: null,
          line_items: [{ ...item, quantity: 1, unit_price_cents: subtotal, subtotal_cents: subtotal }],
          amounts: { subtotal_cents: subtotal, discount_cents: discount, discounted_subtotal_cents: subtotal - discount, tax_cents: tax, total_cents: total },
        });
      }),
    ],
    [
      'payments',
      payments.map((payment) =>
        line('payments', {
          id: id(`payment ${payment['Payment']}`),
          number: payment['Payment'],
          account: named(payment['Customer']),
          method: payment['Method'],
          status: payment['Status'],
          occurred_at: instant(payment['Occurred'] as string),
          amount_cents: cents(payment['Amount'] as string),
          collected_by: named(payment['Collected by']),
          invoice_allocations: [],
        }),
      ),
    ],
    [
      'refunds',
      table('Refunds').map((refund) => {
        const payment = payments.find(({ Payment }) => Payment === refund['Payment']) as Row;
        return line('refunds', {
          id: id(`refund ${refund['Refund']}`),
          payment_id: id(`payment ${refund['Payment']}`),
          account: named(payment['Customer']),
          payment_method: payment['Method'],
          collected_by: named(payment['Collected by']),
          status: refund['Status'],
          occurred_at: instant(refund['Occurred'] as string),
          amount_cents: cents(refund['Amount'] as string),
        });
      }),
    ],
    [
      'job-financials',
      jobs.map((job) => {
        const at = madeAt(job);
        const costs = table('Costs').filter(({ Job }) => Job === job['Job']);
        const { number, account, business_unit, job_type, job_class } = { number: job['Job'], ...workOf(job) } as Json;
        return line('job-financials', {
          id: id(`job ${job['Job']}`),
          number,
          account,
          business_unit,
          job_type,
          job_class,
          costing: { tracking_status: 'TRACKED', verification_status: 'UNVERIFIED', job_type_included: true },
          cost_entries: costs.map(({ Category, Cost }) => ({
            id: id(`cost ${job['Job']} ${Category}`),
            category: Category,
            source: 'manual',
            name: Category,
            quantity: 1,
            quantity_unit: 'unit',
            unit_cost_cents: cents(Cost as string),
            total_cents: cents(Cost as string),
            labor_activity: null,
            misc_category: null,
            pricebook_item_id: null,
            created_at: at,
            updated_at: at,
          })),
        });
      }),
    ],
  ];
}
