import { formatInstant, resource, topics } from '@truckroll/contract';
import { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import type { Copy } from './copy.ts';

const { byName } = resource('invoices').record;
const statuses = byName.get('status')?.enum?.spellings;
const classes = byName.get('job_class')?.enum?.spellings;

export const invoices: Copy = {
  topic: topics.invoices,
  table: 'invoices',
  async store(tx, companyId, payloads) {
    const records = payloads.map((payload) => Invoice.decode(payload));
    // An invoice may have moved to another job: both earn differently now.
    const { rows } = await tx.query<{ job_id: string }>({
      name: 'jobs_of_invoices',
      text: 'select job_id from invoices where company_id = $1 and id = any($2::uuid[]) and job_id is not null',
      values: [companyId, records.map(({ id }) => id)],
    });
    await tx.query({
      name: 'copy_invoices',
      text: `insert into invoices (company_id, id, job_id, number, status, issued_at, created_at, account_id, business_unit_id,
          job_type_id, job_class, subtotal_cents, discount_cents, tax_cents)
        select $1, * from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::uuid[],
          $9::uuid[], $10::uuid[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[])
        on conflict (company_id, id) do update set job_id = excluded.job_id, number = excluded.number, status = excluded.status,
          issued_at = excluded.issued_at, created_at = excluded.created_at, account_id = excluded.account_id,
          business_unit_id = excluded.business_unit_id, job_type_id = excluded.job_type_id, job_class = excluded.job_class,
          subtotal_cents = excluded.subtotal_cents, discount_cents = excluded.discount_cents, tax_cents = excluded.tax_cents`,
      values: [
        companyId,
        records.map((invoice) => invoice.id),
        records.map((invoice) => invoice.job_id ?? null),
        records.map((invoice) => invoice.number),
        records.map((invoice) => statuses?.get(invoice.status)),
        records.map((invoice) => (invoice.issued_at == null ? null : formatInstant(invoice.issued_at))),
        records.map((invoice) => formatInstant(invoice.created_at)),
        records.map((invoice) => invoice.account?.id),
        records.map((invoice) => invoice.business_unit?.id ?? null),
        records.map((invoice) => invoice.job_type?.id ?? null),
        records.map((invoice) => (invoice.job_class == null ? null : classes?.get(invoice.job_class))),
        records.map((invoice) => invoice.amounts?.subtotal_cents),
        records.map((invoice) => invoice.amounts?.discount_cents),
        records.map((invoice) => invoice.amounts?.tax_cents),
      ],
    });
    return [...rows, ...records].flatMap(({ job_id }) => job_id ?? []);
  },
};
