import type { Invoice, Job, Payment } from '../../api/business.ts';
import { readList, readRecord } from '../../api/reports.ts';
import { Page } from '../../parts/page.tsx';
import { Part } from '../../parts/part.tsx';
import { dollars } from '../../parts/money.ts';
import { Table } from '../../parts/table.tsx';
import { Day } from '../../parts/time.tsx';
import { methodName, rate, titleCase } from '../../parts/words.ts';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { InvoiceBadge } from './badges.tsx';
import { paymentColumns } from './columns.tsx';
import { Developer, Facts, Party, Sums, Timeline, type Sum } from './document.tsx';

const LINK_MS = 300_000;

export function InvoiceDocument({ record }: { record: Invoice }) {
  const { id, number, status, account, job_id: jobId, amounts, issued_at: issued, due_at: due, created_by: by, updated_at: updated } = record;
  const payments = useResource(
    `payments of invoice ${id}`,
    async (signal) => (await readList<Payment>('payments', { invoice_id: id }, 100, signal)).records,
    undefined,
    undefined,
    LINK_MS,
  );
  const job = useResource(
    `job ${jobId}`,
    async (signal) => (jobId === null ? null : await readRecord<Job>('jobs', jobId, signal)),
    undefined,
    undefined,
    LINK_MS,
  );
  const applied = new Map(record.payment_applications.map(({ payment_id: of, applied_cents: cents }) => [of, cents]));
  return (
    <Page title={`Invoice ${number}`} above={{ title: account.name, href: places.customer(account.id) }} beside={<InvoiceBadge invoice={record} />}>
      <article class="document">
        <div class="parties">
          <Party title="Bill to" account={account} />
          <Facts
            of={[
              ['Issued', issued === null ? 'Not yet' : <Day at={issued} />],
              ['Due', due !== null && <Day at={due} />],
              ['Job', jobId !== null && <a href={places.record('jobs', jobId)}>{job.value?.number ?? 'The job'}</a>],
              ['Job type', record.job_type?.name],
              ['Business unit', record.business_unit?.name],
            ]}
          />
          <p class="document-amount">
            <span class="soft">{amounts.open_balance_cents > 0 && status === 'OPEN' ? 'Owed' : 'Total'}</span>
            <span class="figure">{dollars(status === 'OPEN' && amounts.open_balance_cents > 0 ? amounts.open_balance_cents : amounts.total_cents)}</span>
          </p>
        </div>
        <Table
          caption="Line items"
          rows={record.line_items}
          rowKey={({ id: line }) => line}
          columns={[
            {
              title: 'Item',
              cell: ({ name, description }) => (
                <>
                  {name}
                  {description !== '' && description !== name && <span class="soft below">{description}</span>}
                </>
              ),
            },
            { title: 'Quantity', numeric: true, cell: ({ quantity }) => quantity.toLocaleString() },
            { title: 'Unit price', numeric: true, cell: ({ unit_price_cents: cents }) => dollars(cents) },
            { title: 'Amount', numeric: true, cell: ({ subtotal_cents: cents }) => dollars(cents) },
          ]}
        />
        <Sums of={sumsOf(record)} />
      </article>
      <Part title="Payments" resource={payments}>
        {(list) =>
          list.length === 0 ? (
            <p class="soft">None yet.</p>
          ) : (
            <Table
              linked
              caption="Payments of this invoice"
              rows={list}
              rowKey={({ id: of }) => of}
              columns={[
                paymentColumns.number,
                paymentColumns.date,
                paymentColumns.method,
                paymentColumns.status,
                { title: 'Applied here', numeric: true, cell: ({ id: of }) => dollars(applied.get(of) ?? 0) },
              ]}
            />
          )
        }
      </Part>
      <Timeline
        of={[
          { at: record.created_at, what: `Written${by === null ? '' : ` by ${by.name}`}` },
          { at: issued, what: 'Issued', day: true },
          { at: due !== null && due <= new Date().toISOString() ? due : null, what: 'Due', day: true },
          ...(payments.value ?? []).map(({ id: of, occurred_at: at, method, status: state, amount_cents: cents }) => ({
            at,
            what: (
              <a href={places.record('payments', of)}>
                Payment of {dollars(applied.get(of) ?? cents)}, {methodName(method)}
                {state !== null && state !== 'PAID' && `, ${titleCase(state).toLowerCase()}`}
              </a>
            ),
          })),
          { at: updated, what: 'Last change' },
        ]}
      />
      <Developer path="invoices" record={record} />
    </Page>
  );
}

function sumsOf({ amounts, discounts, tax, status }: Invoice): Sum[] {
  const names = discounts.map(({ name, rate: share }) => (share === null ? name : `${name} (${rate(share)})`)).join(', ');
  return [
    { title: 'Subtotal', value: dollars(amounts.subtotal_cents) },
    ...(amounts.discount_cents === 0 ? [] : [{ title: `Discounts${names === '' ? '' : `: ${names}`}`, value: dollars(-amounts.discount_cents) }]),
    { title: `${tax.name || 'Tax'}${tax.rate === 0 ? '' : ` (${rate(tax.rate)})`}`, value: dollars(amounts.tax_cents) },
    { title: 'Total', value: dollars(amounts.total_cents), strong: true },
    { title: 'Paid', value: dollars(-amounts.paid_cents) },
    ...(amounts.processing_cents === 0 ? [] : [{ title: 'Being processed', value: dollars(amounts.processing_cents) }]),
    { title: status === 'OPEN' ? 'Owed' : 'Open balance', value: dollars(amounts.open_balance_cents), strong: true },
  ];
}
