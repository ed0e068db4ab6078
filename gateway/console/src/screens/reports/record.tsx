import type { ComponentChildren } from 'preact';
import type { ApiRecord, InvoiceRecord, JobRecord, Reading, RecordKind, RecordOf, Reference, Work } from '../../api/records.ts';
import { readRecord } from '../../api/reports.ts';
import { BodyText } from '../../parts/body-text.tsx';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { dayName } from './calendar.ts';
import { marginOf } from './definitions.ts';
import { figure } from './figures.tsx';
import { methodName } from './name-filters.tsx';
import { titleCase } from './records.tsx';
import { ONE, PATHS } from './sources.ts';

/** One record of a figure: what an accountant asks about first, and the whole of it as the API returns it. */
export function RecordScreen({ kind, id }: { kind: RecordKind; id: string }) {
  const resource = useResource(`record ${kind} ${id}`, (signal) => readRecord<ApiRecord>(PATHS[kind], id, signal));
  const record = resource.value;
  return (
    <Page title={`${ONE[kind]} ${record?.number ?? ''}`.trim()} above={{ title: 'Reports', href: places.reports }} live={[resource]}>
      {record && (
        <>
          <dl class="facts">
            {factsOf(kind, record).map(([title, value]) => (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{value ?? <span class="soft">–</span>}</dd>
              </div>
            ))}
          </dl>
          {'line_items' in record && <Lines record={record} />}
          {'cost_entries' in record && <Costs record={record} />}
          <section aria-labelledby="whole">
            <h2 id="whole">The record as the API returns it</h2>
            <BodyText what="record" text={JSON.stringify(record, null, 2)} />
          </section>
        </>
      )}
    </Page>
  );
}

type Fact = readonly [title: string, value: ComponentChildren];

const name = (reference: Reference | null): string | undefined => reference?.name;
const moment = (at: string | null): ComponentChildren => at !== null && <Time at={at} />;
const link = (kind: RecordKind, id: string | null): ComponentChildren => id !== null && <a href={places.record(kind, id)}>{ONE[kind]}</a>;

const WORK = (record: Work): Fact[] => [
  ['Customer', record.account.name],
  ['Business unit', name(record.business_unit)],
  ['Job type', name(record.job_type)],
  ['Job class', record.job_class && titleCase(record.job_class)],
];

const FACTS: Reading<readonly Fact[]> = {
  invoices: (record) => [
    ['Status', titleCase(record.status)],
    ['Issued', moment(record.issued_at)],
    ['Due', moment(record.due_at)],
    ...WORK(record),
    ['Job', link('jobs', record.job_id)],
    ['Gross sales', dollars(record.amounts.subtotal_cents)],
    ['Discounts', dollars(record.amounts.discount_cents)],
    ['Tax', dollars(record.amounts.tax_cents)],
    ['Billed', dollars(record.amounts.total_cents)],
    ['Paid', dollars(record.amounts.paid_cents)],
    ['Open', dollars(record.amounts.open_balance_cents)],
  ],
  payments: (record) => [
    ['Status', record.status && titleCase(record.status)],
    ['Occurred', moment(record.occurred_at)],
    ['Customer', record.account.name],
    ['Method', methodName(record.method)],
    ['Collected by', name(record.collected_by)],
    ['Amount', dollars(record.amount_cents)],
    [
      'Applied to',
      record.invoice_allocations.length > 0 && (
        <ul>
          {record.invoice_allocations.map(({ invoice_id: id, applied_cents: cents }) => (
            <li key={id}>
              <a href={places.record('invoices', id)}>Invoice</a> {dollars(cents)}
            </li>
          ))}
        </ul>
      ),
    ],
  ],
  refunds: (record) => [
    ['Status', titleCase(record.status)],
    ['Occurred', moment(record.occurred_at)],
    ['Customer', record.account.name],
    ['Method', methodName(record.payment_method)],
    ['Collected by', name(record.collected_by)],
    ['Amount', dollars(record.amount_cents)],
    ['Of', link('payments', record.payment_id)],
  ],
  jobs: (record) => [
    ['Report date', dayName(record.report_date)],
    ...WORK(record),
    ['Technicians', record.participants.map(name).join(', ')],
    ['Revenue', dollars(record.totals.revenue_cents)],
    ['Total cost', dollars(record.totals.total_cost_cents)],
    ['Gross profit', dollars(record.totals.gross_profit_cents)],
    ['Margin', figure(marginOf(record.totals.gross_profit_cents, record.totals.revenue_cents), 'share')],
  ],
};

const factsOf = <K extends RecordKind>(kind: K, record: RecordOf[K]): readonly Fact[] => FACTS[kind](record);

function Lines({ record }: { record: InvoiceRecord }) {
  return (
    <section aria-labelledby="lines">
      <h2 id="lines">Line items</h2>
      <Table
        caption="Line items"
        rows={record.line_items}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Item', cell: (line) => line.name, total: 'Gross sales' },
          { title: 'Quantity', numeric: true, cell: (line) => line.quantity },
          { title: 'Amount', numeric: true, cell: (line) => dollars(line.subtotal_cents), total: dollars(record.amounts.subtotal_cents) },
        ]}
      />
    </section>
  );
}

function Costs({ record }: { record: JobRecord }) {
  const { invoices, omitted_invoices: omitted, cost_entries: costs } = record;
  return (
    <>
      <section aria-labelledby="invoices">
        <h2 id="invoices">Invoices</h2>
        <Table
          caption="Invoices of the job"
          rows={invoices}
          rowKey={({ id }) => id}
          columns={[
            { title: 'Invoice', cell: (invoice) => <a href={places.record('invoices', invoice.id)}>{invoice.number}</a> },
            { title: 'Status', cell: (invoice) => titleCase(invoice.status) },
            { title: 'Gross sales', numeric: true, cell: (invoice) => dollars(invoice.subtotal_cents) },
          ]}
        />
        {omitted !== null && <p class="hint">{omitted.toLocaleString()} more are not shown here. The totals include them.</p>}
      </section>
      <section aria-labelledby="costs">
        <h2 id="costs">Costs</h2>
        <Table
          caption="Costs of the job"
          rows={costs}
          rowKey={({ id }) => id}
          columns={[
            { title: 'Cost', cell: (cost) => cost.name, total: 'Total cost' },
            { title: 'Category', cell: (cost) => titleCase(cost.category.toUpperCase()) },
            { title: 'Amount', numeric: true, cell: (cost) => dollars(cost.total_cents), total: dollars(record.totals.total_cost_cents) },
          ]}
        />
      </section>
    </>
  );
}
