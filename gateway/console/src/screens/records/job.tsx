import type { Invoice, Job, Location, Visit } from '../../api/business.ts';
import type { JobRecord } from '../../api/records.ts';
import { Problem } from '../../api/problem.ts';
import { readList, readRecord } from '../../api/reports.ts';
import { Badge } from '../../parts/badge.tsx';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Part } from '../../parts/part.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/time.tsx';
import { titleCase } from '../../parts/words.ts';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { dayName } from '../reports/calendar.ts';
import { marginOf } from '../reports/definitions.ts';
import { figure } from '../reports/figures.tsx';
import { invoiceColumns, visitColumns } from './columns.tsx';
import { Developer, Facts, Party, Sums, Timeline } from './document.tsx';

const LINK_MS = 300_000;
/** Most visits or invoices of one job that its page lists. */
const MOST = 200;

/** A job that has no financials yet is a 404. */
async function readFinancials(id: string, signal: AbortSignal): Promise<JobRecord | null> {
  try {
    return await readRecord<JobRecord>('job-financials', id, signal);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

export function JobDocument({ record }: { record: Job }) {
  const { id, number, summary, account, status, location_id: locationId, created_by: by } = record;
  const list = <T,>(path: string) =>
    useResource(`${path} of job ${id}`, async (signal) => (await readList<T>(path, { job_id: id }, MOST, signal)).records, undefined, undefined, LINK_MS);
  const visits = list<Visit>('job-appointments');
  const invoices = list<Invoice>('invoices');
  const location = useResource(`location ${locationId}`, (signal) => readRecord<Location>('locations', locationId, signal), undefined, undefined, LINK_MS);
  const financials = useResource(`financials ${id}`, (signal) => readFinancials(id, signal), undefined, undefined, LINK_MS);
  return (
    <Page
      title={`Job ${number}`}
      above={{ title: account.name, href: places.customer(account.id) }}
      beside={<Badge tone={status.is_work_complete ? 'good' : record.canceled_at === null ? 'busy' : 'off'}>{status.name}</Badge>}
    >
      <article class="document">
        {summary !== null && <p class="document-title">{summary}</p>}
        <div class="parties">
          <Party title="Customer" account={account} />
          <Facts
            of={[
              ['Where', location.value?.address.formatted],
              ['Contact', record.contact?.name],
              ['Job type', record.job_type?.name],
              ['Business unit', record.business_unit?.name],
              ['Priority', record.priority !== 'NORMAL' && titleCase(record.priority)],
              ['Sold by', record.sold_by?.name],
              ['Tags', record.tags.map(({ name }) => name).join(', ')],
              ['Canceled because', record.cancellation_reason],
            ]}
          />
        </div>
      </article>
      <Part title="Visits" resource={visits}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">No visit is planned.</p>
          ) : (
            <Table
              linked
              caption="Visits of this job"
              rows={[...rows].sort((a, b) => a.starts_at.localeCompare(b.starts_at))}
              rowKey={({ id: of }) => of}
              columns={[
                {
                  title: 'When',
                  cell: ({ id: of, starts_at: at }) => (
                    <a class="name" href={places.record('visits', of)}>
                      <When at={at} />
                    </a>
                  ),
                },
                { title: 'Visit', cell: ({ number: shown }) => shown },
                { title: 'Technicians', cell: ({ assignments }) => assignments.map(({ team_member: { name } }) => name).join(', ') || '–' },
                visitColumns.status,
              ]}
            />
          )
        }
      </Part>
      <Part title="Invoices" resource={invoices}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">None yet.</p>
          ) : (
            <Table
              linked
              caption="Invoices of this job"
              rows={rows}
              rowKey={({ id: of }) => of}
              columns={[invoiceColumns.number, invoiceColumns.issued, invoiceColumns.status, invoiceColumns.total, invoiceColumns.open]}
            />
          )
        }
      </Part>
      <Part title="Costs and profit" resource={financials}>
        {(of) => (of === null ? <p class="soft">There are no figures yet.</p> : <Financials of={of} />)}
      </Part>
      <Timeline
        of={[
          { at: record.created_at, what: `Created${by === null ? '' : ` by ${by.name}`}` },
          { at: record.completed_at, what: 'Completed' },
          { at: record.canceled_at, what: 'Canceled' },
          ...(visits.value ?? []).map(({ id: of, number: shown, starts_at: at, canceled }) => ({
            at,
            what: (
              <a href={places.record('visits', of)}>
                Visit {shown}
                {canceled && ', canceled'}
              </a>
            ),
          })),
          ...(invoices.value ?? []).map(({ id: of, number: shown, issued_at: at }) => ({
            at,
            what: <a href={places.record('invoices', of)}>Invoice {shown}</a>,
            day: true,
          })),
        ]}
      />
      <Developer path="jobs" record={record} />
    </Page>
  );
}

function Financials({ of: { totals, cost_entries: costs, report_date: day } }: { of: JobRecord }) {
  return (
    <>
      {costs.length > 0 && (
        <Table
          caption="Costs of the job"
          rows={costs}
          rowKey={({ id }) => id}
          columns={[
            { title: 'Cost', cell: ({ name }) => name },
            { title: 'Category', cell: ({ category }) => titleCase(category.toUpperCase()) },
            { title: 'Amount', numeric: true, cell: ({ total_cents: cents }) => dollars(cents) },
          ]}
        />
      )}
      <Sums
        of={[
          { title: 'Revenue', value: dollars(totals.revenue_cents) },
          { title: 'Total cost', value: dollars(-totals.total_cost_cents) },
          { title: 'Gross profit', value: dollars(totals.gross_profit_cents), strong: true },
          { title: 'Margin', value: totals.revenue_cents > 0 ? figure(marginOf(totals.gross_profit_cents, totals.revenue_cents), 'share') : '–' },
          { title: 'Counts in reports on', value: dayName(day) },
        ]}
      />
    </>
  );
}
