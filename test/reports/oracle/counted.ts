// Decides which records a report counts, on which day, in which groups and with which amounts (decisions §2 and §13).
import type { Json } from '../../support/expected.ts';
import { localDate, millis } from './dates.ts';
import type { Question } from './question.ts';
import type { Records } from './records.ts';

export interface Counted {
  date: string;
  keys: Record<string, string | null>;
  amounts: Record<string, bigint>;
}

export function countedBy(question: Question, records: Records): Counted[] {
  switch (question.report) {
    case 'invoice-activity':
      return records.invoices.flatMap((invoice) => countInvoice(invoice, records));
    case 'collections':
      return [...records.payments.flatMap((payment) => countPayment(payment, records)), ...records.refunds.flatMap((refund) => countRefund(refund, records))];
    case 'job-profitability':
      return records['job-financials'].flatMap((financials) => countJob(financials, records, question.includeExcluded));
    case 'technician-participation-profitability':
      return records['job-financials'].flatMap((financials) => {
        const members = new Set(
          records['job-assignments'].filter(({ job_id }) => job_id === financials['id']).map(({ team_member }) => team_member.id as string),
        );
        const [job] = countJob(financials, records, question.includeExcluded);
        return job === undefined ? [] : [...members].map((member) => ({ ...job, keys: { ...job.keys, team_member: member } }));
      });
  }
}

function countInvoice(invoice: Json, { timezone }: Records): Counted[] {
  if (invoice['issued_at'] === null) return [];
  const { subtotal_cents, discount_cents, tax_cents } = invoice['amounts'];
  return [
    {
      date: localDate(invoice['issued_at'], timezone),
      keys: { ...workOf(invoice), status: invoice['status'] },
      amounts: { invoices: 1n, subtotal: BigInt(subtotal_cents), discount: BigInt(discount_cents), tax: BigInt(tax_cents) },
    },
  ];
}

function countPayment(payment: Json, { timezone }: Records): Counted[] {
  if (payment['status'] !== 'PAID') return [];
  const keys = payerOf(payment, payment['method']);
  return [{ date: localDate(payment['occurred_at'], timezone), keys, amounts: { payments: 1n, received: BigInt(payment['amount_cents']) } }];
}

function countRefund(refund: Json, { timezone }: Records): Counted[] {
  if (refund['status'] !== 'SUCCEEDED') return [];
  const keys = payerOf(refund, refund['payment_method']);
  return [{ date: localDate(refund['occurred_at'], timezone), keys, amounts: { refunds: 1n, refunded: BigInt(refund['amount_cents']) } }];
}

function countJob(financials: Json, records: Records, includeExcluded: boolean): Counted[] {
  const job = records.jobs.find(({ id }) => id === financials['id']);
  if (job === undefined) throw new Error(`job ${financials['id']} has financials and is not there`);
  const { tracking_status, verification_status, job_type_included } = financials['costing'];
  if (!records.costing || tracking_status !== 'TRACKED') return [];
  if (records.verifiedOnly && verification_status !== 'VERIFIED') return [];
  if (!includeExcluded && (!job_type_included || job['job_type'] === null)) return [];
  const invoices = records.invoices.filter(({ job_id, status }) => job_id === job['id'] && (status === 'OPEN' || status === 'PAID'));
  const issued = invoices.flatMap(({ issued_at }) => (issued_at === null ? [] : [issued_at as string])).sort((a, b) => millis(a) - millis(b));
  const amounts: Record<string, bigint> = { jobs: 1n, revenue: 0n };
  for (const { amounts: of } of invoices) amounts['revenue'] = (amounts['revenue'] as bigint) + BigInt(of.subtotal_cents);
  for (const { category, total_cents } of financials['cost_entries']) amounts[category] = (amounts[category] ?? 0n) + BigInt(total_cents);
  return [{ date: localDate(issued[0] ?? job['completed_at'] ?? job['created_at'], records.timezone), keys: workOf(job), amounts }];
}

function workOf({ account, business_unit, job_type, job_class }: Json): Record<string, string | null> {
  return { account: account.id, business_unit: business_unit?.id ?? null, job_type: job_type?.id ?? null, job_class };
}

function payerOf({ account, collected_by }: Json, method: string): Record<string, string | null> {
  return { account: account.id, payment_method: method, collector: collected_by?.id ?? null };
}
