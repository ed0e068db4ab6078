import type { Invoice, Payment } from '../../api/business.ts';
import type { RecordOf } from '../../api/records.ts';
import { readList } from '../../api/reports.ts';
import { Badge } from '../../parts/badge.tsx';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Part } from '../../parts/part.tsx';
import { Table } from '../../parts/table.tsx';
import { Day } from '../../parts/time.tsx';
import { methodName, titleCase } from '../../parts/words.ts';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { InvoiceBadge, PaymentBadge } from './badges.tsx';
import { Developer, Facts, Party, Timeline } from './document.tsx';

type Refund = RecordOf['refunds'];

const LINK_MS = 300_000;

export function PaymentDocument({ record }: { record: Payment }) {
  const { id, number, account, amount_cents: cents, occurred_at: at, method, collected_by: by, invoice_allocations: allocations } = record;
  const ids = allocations.map(({ invoice_id: of }) => of);
  const invoices = useResource(
    `invoices ${ids.join()}`,
    async (signal) => (ids.length === 0 ? [] : (await readList<Invoice>('invoices', { ids: ids.slice(0, 100) }, 100, signal)).records),
    undefined,
    undefined,
    LINK_MS,
  );
  const refunds = useResource(
    `refunds of ${id}`,
    async (signal) => (await readList<Refund>('refunds', { payment_id: id }, 100, signal)).records,
    undefined,
    undefined,
    LINK_MS,
  );
  const numberOf = (of: string): string => invoices.value?.find(({ id: each }) => each === of)?.number ?? 'Invoice';
  return (
    <Page
      title={`Payment ${number ?? ''}`.trim()}
      above={{ title: account.name, href: places.customer(account.id) }}
      beside={<PaymentBadge payment={record} />}
    >
      <article class="document">
        <div class="parties">
          <Party title="From" account={account} />
          <Facts
            of={[
              ['Date', <Day key="at" at={at} />],
              ['Method', methodName(method)],
              ['Collected by', by?.name],
            ]}
          />
          <p class="document-amount">
            <span class="soft">Amount</span>
            <span class="figure">{dollars(cents)}</span>
          </p>
        </div>
        <Table
          linked
          caption="What it pays"
          rows={allocations}
          rowKey={({ invoice_id: of }) => of}
          columns={[
            {
              title: 'Pays',
              cell: ({ invoice_id: of }) => (
                <a class="name" href={places.record('invoices', of)}>
                  {numberOf(of)}
                </a>
              ),
            },
            {
              title: 'Status',
              cell: ({ invoice_id: of }) => {
                const invoice = invoices.value?.find(({ id: each }) => each === of);
                return invoice && <InvoiceBadge invoice={invoice} />;
              },
            },
            { title: 'Amount', numeric: true, cell: ({ applied_cents: applied }) => dollars(applied) },
          ]}
        />
        {allocations.length === 0 && <p class="soft">It is applied to no invoice.</p>}
      </article>
      <Part title="Refunds" resource={refunds}>
        {(list) =>
          list.length === 0 ? (
            <p class="soft">None.</p>
          ) : (
            <Table
              linked
              caption="Refunds of this payment"
              rows={list}
              rowKey={({ id: of }) => of}
              columns={[
                {
                  title: 'Date',
                  cell: ({ id: of, occurred_at: then }) => (
                    <a class="name" href={places.record('refunds', of)}>
                      <Day at={then} />
                    </a>
                  ),
                },
                { title: 'Status', cell: ({ status }) => titleCase(status) },
                { title: 'Amount', numeric: true, cell: ({ amount_cents: back }) => dollars(back) },
              ]}
            />
          )
        }
      </Part>
      <Timeline
        of={[
          { at, what: `${record.status === 'PAID' ? 'Received' : 'Attempted'}${by === null ? '' : ` by ${by.name}`}` },
          { at: record.created_at, what: 'Recorded' },
          ...(refunds.value ?? []).map(({ occurred_at: then, amount_cents: back, status }) => ({ at: then, what: `${refunded(status)}: ${dollars(back)}` })),
        ]}
      />
      <Developer path="payments" record={record} />
    </Page>
  );
}

const refunded = (status: Refund['status']): string => (status === 'SUCCEEDED' ? 'Refunded' : `Refund ${titleCase(status).toLowerCase()}`);

export function RefundDocument({ record }: { record: Refund }) {
  const { account, status, amount_cents: cents, occurred_at: at, payment_method: method, collected_by: by, payment_id: payment } = record;
  return (
    <Page title="Refund" above={{ title: account.name, href: places.customer(account.id) }} beside={<Badge tone="off">{titleCase(status)}</Badge>}>
      <article class="document">
        <div class="parties">
          <Party title="To" account={account} />
          <Facts
            of={[
              ['Date', <Day key="at" at={at} />],
              ['Method', methodName(method)],
              ['Collected by', by?.name],
              [
                'Refund of',
                <a key="of" href={places.record('payments', payment)}>
                  The payment
                </a>,
              ],
            ]}
          />
          <p class="document-amount">
            <span class="soft">Amount</span>
            <span class="figure">{dollars(cents)}</span>
          </p>
        </div>
      </article>
      <Timeline
        of={[
          { at, what: refunded(status), day: true },
          { at: record.created_at, what: 'Recorded' },
        ]}
      />
      <Developer path="refunds" record={record} />
    </Page>
  );
}
