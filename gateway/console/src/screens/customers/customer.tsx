import type { ComponentChildren } from 'preact';
import {
  readInteractions,
  readOf,
  readOwed,
  type Account,
  type Contact,
  type Equipment,
  type Interaction,
  type Invoice,
  type Job,
  type Location,
  type Payment,
  type Visit,
} from '../../api/business.ts';
import { readRecord, type Listed } from '../../api/reports.ts';
import { Badge } from '../../parts/badge.tsx';
import { number } from '../../parts/figures.ts';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Loaded, Part } from '../../parts/part.tsx';
import { Rows, howMany, newestFirst } from '../../parts/rows.tsx';
import type { Column } from '../../parts/table.tsx';
import { Day, When, timeOfDay, today } from '../../parts/time.tsx';
import { useResource, type Resource } from '../../state/resource.ts';
import { isId, places } from '../../state/route.ts';
import { session } from '../../state/session.ts';
import { invoiceColumns, paymentColumns, visitColumns } from '../records/columns.tsx';
import { Forms } from '../records/form.tsx';
import { Mail, Telephone } from './reach.tsx';
import { History, spokenOf } from './timeline.tsx';

const RELOAD_MS = 60_000;

/** What one customer's records have in common: a part of the page for each list. */
function useOf<T>(id: string, path: string, date: (record: T) => string): Resource<Listed<T>> {
  return useResource(`${path} of ${id}`, (signal) => readOf<T>(path, id, date, signal), undefined, undefined, RELOAD_MS);
}

export function Customer({ id }: { id: string }) {
  return isId(id) ? <Known id={id} /> : <NoCustomer />;
}

const ABOVE = { title: 'Customers', href: places.customers() };

function NoCustomer() {
  return (
    <Page title="No such customer" above={ABOVE}>
      <p>{session.value.me?.company.name} has no customer at this address. If a colleague sent you the link, it may be of another company.</p>
    </Page>
  );
}

function Known({ id }: { id: string }) {
  const account = useResource(`account ${id}`, (signal) => readRecord<Account>('accounts', id, signal), undefined, undefined, RELOAD_MS);
  const owed = useResource(
    `owed ${id}`,
    async (signal) => {
      const { open = 0, overdue = 0 } = (await readOwed([id], signal)).get(id) ?? {};
      return { open, overdue };
    },
    undefined,
    undefined,
    RELOAD_MS,
  );
  const invoices = useOf<Invoice>(id, 'invoices', ({ issued_at: at, created_at: made }) => at ?? made);
  const payments = useOf<Payment>(id, 'payments', ({ occurred_at: at }) => at);
  const visits = useOf<Visit>(id, 'job-appointments', ({ starts_at: at }) => at);
  const jobs = useOf<Job>(id, 'jobs', ({ created_at: at }) => at);
  const equipment = useOf<Equipment>(id, 'equipment', ({ installed_on: day }) => day ?? '');
  const locations = useOf<Location>(id, 'locations', ({ created_at: at }) => at);
  const interactions = useResource(`interactions of ${id}`, (signal) => readInteractions(id, signal), undefined, undefined, RELOAD_MS);
  const contacts = useOf<Contact>(id, 'contacts', ({ is_primary: primary }) => (primary ? '1' : '0'));

  if (account.problem?.status === 404 || account.problem?.status === 400) return <NoCustomer />;
  const of = account.value;
  const now = new Date().toISOString();
  return (
    <Page
      title={of?.name ?? 'Customer'}
      above={ABOVE}
      beside={
        <>
          {of?.do_not_service && <Badge tone="bad">Do not service</Badge>}
          {of?.archived && <Badge tone="off">Archived</Badge>}
          {of?.type === 'COMMERCIAL' && <Badge tone="off">Commercial</Badge>}
        </>
      }
    >
      <div class="tiles customer-head">
        <div>
          <Loaded resource={account} lines={2}>
            {({ company_name: company, phone, email, billing_address: address, tags }) => (
              <dl class="reach">
                {company !== null && <Fact title="Business">{company}</Fact>}
                <Fact title="Telephone">
                  <Telephone number={phone} />
                </Fact>
                <Fact title="E-mail">
                  <Mail address={email} />
                </Fact>
                {address !== null && <Fact title="Address">{address.formatted}</Fact>}
                {tags.length > 0 && <Fact title="Tags">{tags.map(({ name }) => name).join(', ')}</Fact>}
              </dl>
            )}
          </Loaded>
        </div>
        <div>
          <h2 class="soft">Balance</h2>
          <Loaded resource={owed} lines={1}>
            {({ open, overdue }) => (
              <>
                <p class="figure">{open === 0 ? dollars(0) : <a href={places.invoices({ account_id: id })}>{dollars(open)}</a>}</p>
                <p class={overdue > 0 ? 'bad' : 'soft'}>
                  {overdue > 0 ? <a href={places.invoices({ show: 'OVERDUE', account_id: id })}>{dollars(overdue)} of it is overdue</a> : 'Nothing is overdue'}
                </p>
              </>
            )}
          </Loaded>
        </div>
      </div>
      <div class="columns">
        <div>
          <Part title="Next visits" resource={visits} beside={among}>
            {(list) => (
              <Rows of={list.records.filter(({ ends_at: at }) => at >= now).reverse()} caption="Next visits" none="No visit is planned." columns={VISITS} />
            )}
          </Part>
          <Part title="Open invoices" resource={invoices} beside={among}>
            {(list) => (
              <Rows
                of={list.records.filter(({ status, amounts }) => status === 'OPEN' && amounts.open_balance_cents !== 0)}
                caption="Open invoices"
                none="Nothing is owed."
                columns={INVOICES}
              />
            )}
          </Part>
          <History account={of} lists={{ jobs, visits, invoices, payments, interactions }} now={now} />
          <Part title="Jobs" resource={jobs} beside={howMany}>
            {(list) => <Rows of={list.records} caption={newestFirst('Jobs', list)} none="No jobs yet." columns={JOBS} />}
          </Part>
          <Part title="Past visits" resource={visits} beside={among}>
            {(list) => (
              <Rows of={list.records.filter(({ ends_at: at }) => at < now)} caption={newestFirst('Past visits', list)} none="No visits yet." columns={VISITS} />
            )}
          </Part>
          <Part title="Payments" resource={payments} beside={howMany}>
            {(list) => <Rows of={list.records} caption={newestFirst('Payments', list)} none="No payments yet." columns={PAYMENTS} />}
          </Part>
          {jobs.value && jobs.value.records.length > 0 && <Forms by="job_id" ids={jobs.value.records.map(({ id: job }) => job)} partly={jobs.value.more} />}
          <Part title="Calls and messages" resource={interactions} beside={howMany}>
            {(list) => <Rows of={list.records} caption="Calls and messages, newest first" none="None yet." columns={INTERACTIONS} />}
          </Part>
        </div>
        <div>
          <Part title="Contacts" resource={contacts}>
            {({ records }) => <Cards of={records.filter(({ archived }) => !archived)} none="No contacts." card={contactCard} />}
          </Part>
          <Part title="Locations" resource={locations}>
            {({ records }) => <Cards of={records} none="No locations." card={locationCard} />}
          </Part>
          <Part title="Equipment" resource={equipment}>
            {({ records }) => <Cards of={records.filter(({ status }) => status === 'ACTIVE')} none="No equipment." card={equipmentCard} />}
          </Part>
        </div>
      </div>
    </Page>
  );
}

/** Of a list that leaves out some of what was read. */
const among = ({ records, more }: Listed<unknown>) => more && `among the first ${number(records.length)} that were created`;

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const VISITS: readonly Column<Visit>[] = [
  {
    title: 'When',
    cell: ({ id, starts_at: at, window_start_at: from, window_end_at: to }) => (
      <>
        <a class="name" href={places.record('visits', id)}>
          <When at={at} />
        </a>
        <span class="soft below window">
          arrives {timeOfDay(from)} – {timeOfDay(to)}
        </span>
      </>
    ),
  },
  ...Object.values(visitColumns),
];

const INVOICES: readonly Column<Invoice>[] = [invoiceColumns.number, invoiceColumns.due, invoiceColumns.status, invoiceColumns.total, invoiceColumns.open];

const JOBS: readonly Column<Job>[] = [
  {
    title: 'Job',
    cell: ({ id, number }) => (
      <a class="name" href={places.record('jobs', id)}>
        {number}
      </a>
    ),
  },
  { title: 'What', cell: ({ summary, job_type: type }) => summary ?? type?.name ?? '–' },
  { title: 'First visit', cell: ({ first_starts_at: at }) => (at === null ? <span class="soft">–</span> : <Day at={at} />) },
  { title: 'Status', cell: ({ status }) => status.name },
];

const INTERACTIONS: readonly Column<Interaction>[] = [
  { title: 'When', cell: ({ started_at: at }) => <When at={at} /> },
  { title: 'What', cell: spokenOf },
  { title: 'Summary', cell: ({ summary, outcome }) => [summary, outcome].filter((part) => part !== null).join(' · ') || <span class="soft">–</span> },
];

const PAYMENTS: readonly Column<Payment>[] = Object.values(paymentColumns);

function Cards<T extends { id: string }>({ of, none, card }: { of: readonly T[]; none: string; card: (record: T) => ComponentChildren }) {
  if (of.length === 0) return <p class="soft">{none}</p>;
  return (
    <ul class="stack">
      {of.map((record) => (
        <li key={record.id}>{card(record)}</li>
      ))}
    </ul>
  );
}

const contactCard = ({ name, title, is_primary: primary, channels }: Contact): ComponentChildren => (
  <>
    <strong>{name}</strong> {primary && <Badge tone="off">Primary</Badge>}
    {title !== null && <span class="soft below">{title}</span>}
    {channels.map(({ id, type, value, opted_out: out }) => (
      <span key={id} class="below">
        {type === 'EMAIL' ? <Mail address={value} /> : <Telephone number={value} />} {out && <span class="soft">wants no messages</span>}
      </span>
    ))}
  </>
);

const locationCard = ({ name, address, property_type: type }: Location): ComponentChildren => (
  <>
    <strong>{name}</strong>
    <span class="below">{address.formatted}</span>
    {type !== '' && <span class="soft below">{type}</span>}
  </>
);

const equipmentCard = ({ name, manufacturer, model, serial_number: serial, installed_on: installed, ...warranties }: Equipment): ComponentChildren => (
  <>
    <strong>{name}</strong>
    <span class="below">{[manufacturer, model].filter((part) => part !== null).join(' ')}</span>
    {serial !== null && <span class="soft below">Serial number {serial}</span>}
    {installed !== null && (
      <span class="soft below">
        Installed <Day at={installed} />
      </span>
    )}
    <Warranty what="Manufacturer’s warranty" until={warranties.manufacturer_warranty_ends_on} />
    <Warranty what="Labor warranty" until={warranties.labor_warranty_ends_on} />
  </>
);

function Warranty({ what, until }: { what: string; until: string | null }) {
  if (until === null) return null;
  const valid = until >= today();
  return (
    <span class="below">
      <Badge tone={valid ? 'good' : 'off'}>{valid ? 'In warranty' : 'Ended'}</Badge> {what} {valid ? 'until' : 'on'} <Day at={until} />
    </span>
  );
}
