import type { ComponentChildren, TargetedEvent } from 'preact';
import type { Query } from '../../api/client.ts';
import type { Invoice, Payment } from '../../api/business.ts';
import { readList, type Listed } from '../../api/reports.ts';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Loaded } from '../../parts/part.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { today } from '../../parts/time.tsx';
import { METHODS } from '../../parts/words.ts';
import { readAccountNames, useNames } from '../../state/names.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { go, places, route } from '../../state/route.ts';
import { searchable } from '../../state/search.ts';
import { useStore } from '../../state/store.ts';
import { invoiceColumns, paymentColumns } from '../records/columns.tsx';
import { addDays, dayName } from '../reports/calendar.ts';
import { Tabs } from './tabs.tsx';

/** Most records that are loaded to sort them and add them up. */
const MOST = 1000;

const SHOWN = [
  ['OPEN', 'Open'],
  ['OVERDUE', 'Overdue'],
  ['PAID', 'Paid'],
  ['DRAFT', 'Drafts'],
  ['VOIDED', 'Voided'],
  ['UNCOLLECTABLE', 'Uncollectable'],
  ['ALL', 'All'],
] as const;

const STATES = [
  ['', 'All'],
  ['PAID', 'Paid'],
  ['PENDING', 'Pending'],
  ['PROCESSING', 'Processing'],
  ['SUBMITTING', 'Submitting'],
  ['FAILED', 'Failed'],
  ['CANCELED', 'Canceled'],
] as const;

/** A parameter of the address: a text, or one of the choices, the first of which is no filter. */
interface Filter {
  name: string;
  title: string;
  type?: 'search' | 'date' | 'number';
  choices?: readonly (readonly [value: string, title: string])[];
}

const INVOICE_FILTERS: readonly Filter[] = [
  { name: 'show', title: 'Show', choices: SHOWN },
  { name: 'q', title: 'Number' },
  { name: 'from', title: 'Issued from', type: 'date' },
  { name: 'to', title: 'Issued until', type: 'date' },
  { name: 'due_from', title: 'Due from', type: 'date' },
  { name: 'due_to', title: 'Due until', type: 'date' },
  { name: 'least', title: 'Owed at least, in dollars', type: 'number' },
];

const PAYMENT_FILTERS: readonly Filter[] = [
  { name: 'status', title: 'Status', choices: STATES },
  { name: 'method', title: 'Method', choices: [['', 'All'], ...METHODS.map(({ id, name }) => [id, name] as const)] },
  { name: 'q', title: 'Number' },
  { name: 'from', title: 'Received from', type: 'date' },
  { name: 'to', title: 'Received until', type: 'date' },
];

/** A day and the one after it, which the API's filters exclude; undefined if the address has none. */
const dayIn = (query: URLSearchParams, name: string): string | undefined => (/^\d{4}-\d\d-\d\d$/.test(query.get(name) ?? '') ? query.get(name)! : undefined);
const dayAfter = (query: URLSearchParams, name: string): string | undefined => {
  const day = dayIn(query, name);
  return day === undefined ? undefined : addDays(day, 1);
};

/** Invoices by the filters in the address: at first those on which something is owed. */
export function Invoices() {
  const { query } = useStore(route);
  const show = SHOWN.find(([value]) => value === query.get('show'))?.[0] ?? 'OPEN';
  const least = Math.round(Number(query.get('least')) * 100);
  const asked: Query = {
    status: show === 'ALL' ? undefined : show === 'OVERDUE' ? 'OPEN' : show,
    due_from: dayIn(query, 'due_from'),
    due_before: [show === 'OVERDUE' ? today() : undefined, dayAfter(query, 'due_to')].filter((day) => day !== undefined).sort()[0],
    issued_from: dayIn(query, 'from'),
    issued_before: dayAfter(query, 'to'),
    open_balance_from: least > 0 ? least : undefined,
    account_id: query.get('account_id') ?? undefined,
    search: searchable(query.get('q') ?? ''),
  };
  // Open invoices on which nothing is owed need no work.
  const owes = ({ status, amounts }: Invoice): boolean => status !== 'OPEN' || show === 'ALL' || amounts.open_balance_cents !== 0;
  return (
    <List<Invoice>
      title="Invoices"
      path="invoices"
      asked={asked}
      keep={owes}
      date={({ issued_at: at, created_at: made }) => at ?? made}
      columns={INVOICES}
      sums={[
        ['Total', ({ amounts }) => amounts.total_cents],
        ['Open', ({ amounts }) => amounts.open_balance_cents],
      ]}
      filters={INVOICE_FILTERS}
    />
  );
}

/** Payments by the filters in the address. */
export function Payments() {
  const { query } = useStore(route);
  const asked: Query = {
    status: query.get('status') ?? undefined,
    method: query.get('method') ?? undefined,
    occurred_from: dayIn(query, 'from'),
    occurred_before: dayAfter(query, 'to'),
    account_id: query.get('account_id') ?? undefined,
    search: searchable(query.get('q') ?? ''),
  };
  return (
    <List<Payment>
      title="Payments"
      path="payments"
      asked={asked}
      date={({ occurred_at: at }) => at}
      columns={PAYMENTS}
      sums={[['Amount', ({ amount_cents: cents }) => cents]]}
      filters={PAYMENT_FILTERS}
    />
  );
}

interface Given<T> {
  title: string;
  path: string;
  asked: Query;
  keep?: (record: T) => boolean;
  date: (record: T) => string;
  columns: readonly Column<T>[];
  /** Columns that are added up. */
  sums: readonly (readonly [title: string, of: (record: T) => number])[];
  filters: readonly Filter[];
}

function List<T extends { id: string }>({ title, path, asked, keep = () => true, date, columns, sums, filters }: Given<T>) {
  const list = useResource(
    `${path} ${JSON.stringify(asked)}`,
    async (signal): Promise<Listed<T>> => {
      const { records, more } = await readList<T>(path, asked, MOST, signal);
      return { records: records.filter(keep).sort((a, b) => date(b).localeCompare(date(a))), more };
    },
    undefined,
    undefined,
    RARELY_MS,
  );
  return (
    <Page title={title} beside={<Tabs current={title} />} live={[list]}>
      <form class="filters" aria-label={`Filters of ${title.toLowerCase()}`} onSubmit={(event) => event.preventDefault()}>
        {filters.map((filter) => (
          <Field key={filter.name} filter={filter} />
        ))}
      </form>
      <Pills filters={filters} />
      <Loaded resource={{ ...list, problem: list.value === undefined ? list.problem : undefined }} lines={8}>
        {({ records, more }) => (
          <>
            <p class="soft" role="status">
              {more
                ? `More than ${MOST.toLocaleString()} match. These are those that were created first, and no sum: choose fewer days or another filter.`
                : `${records.length.toLocaleString()} ${records.length === 1 ? title.slice(0, -1).toLowerCase() : title.toLowerCase()}, newest first`}
            </p>
            {records.length === 0 ? (
              <p class="empty">None match. Change the filters.</p>
            ) : (
              <Table
                linked
                caption={more ? `${title}, only some of them` : `${title}, newest first`}
                rows={records}
                rowKey={({ id }) => id}
                columns={columns.map((column, index) => ({
                  ...column,
                  ...(!more && index === 0 ? { total: 'Sum' } : {}),
                  ...(!more ? totalOf(column.title, sums, records) : {}),
                }))}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function totalOf<T>(title: string, sums: Given<T>['sums'], records: readonly T[]): { total?: string } {
  const of = sums.find(([name]) => name === title)?.[1];
  return of === undefined ? {} : { total: dollars(records.reduce((sum, record) => sum + of(record), 0)) };
}

/** Changes parameters of the address. */
function change(values: Readonly<Record<string, string>>): void {
  const { path, query } = route.value;
  const next = { ...Object.fromEntries(query), ...values };
  go(path[1] === 'payments' ? places.payments(next) : places.invoices(next));
}

function Field({ filter: { name, title, type = 'search', choices } }: { filter: Filter }) {
  const { query } = useStore(route);
  const value = query.get(name) ?? '';
  if (choices !== undefined) {
    return (
      <label>
        {title}
        <select
          name={name}
          value={choices.some(([each]) => each === value) ? value : choices[0]![0]}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
        >
          {choices.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      </label>
    );
  }
  const given = {
    name,
    value,
    onChange: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => currentTarget.validity.valid && change({ [name]: currentTarget.value.trim() }),
  };
  return (
    <label>
      {title}
      {type === 'date' ? (
        <input type="date" {...given} />
      ) : type === 'number' ? (
        <input type="number" min={0} step="0.01" {...given} />
      ) : (
        <input type="search" autocomplete="off" {...given} />
      )}
    </label>
  );
}

/** What the filter is set to, in words; undefined if it is not. */
function setTo({ name, title, type, choices }: Filter, query: URLSearchParams): string | undefined {
  const value = query.get(name) ?? '';
  const text =
    choices !== undefined
      ? choices.slice(1).find(([each]) => each === value)?.[1]
      : type === 'date'
        ? dayIn(query, name) && dayName(value)
        : type === 'number' && !(Number(value) > 0)
          ? undefined
          : value;
  return text ? `${title}: ${text}` : undefined;
}

/** A pill for each filter that is set, which removes it. */
function Pills({ filters }: { filters: readonly Filter[] }) {
  const { query } = useStore(route);
  const id = query.get('account_id');
  const names = useNames(`accounts ${id}`, () => readAccountNames(id === null ? [] : [id]));
  const set = [
    ...(id === null ? [] : [['account_id', `Customer: ${names?.[0]?.name ?? '…'}`] as const]),
    ...filters.flatMap((filter) => {
      const text = setTo(filter, query);
      return text === undefined ? [] : [[filter.name, text] as const];
    }),
  ];
  if (set.length === 0) return null;
  return (
    <p class="chosen">
      {set.map(([name, text]) => (
        <button key={name} type="button" class="small" aria-label={`${text}, remove`} onClick={() => change({ [name]: '' })}>
          {text} <span aria-hidden="true">×</span>
        </button>
      ))}
      {set.length > 1 && (
        <button type="button" class="small" onClick={() => change(Object.fromEntries(set.map(([name]) => [name, ''])))}>
          Remove all
        </button>
      )}
    </p>
  );
}

const customer = ({ account }: { account: { id: string; name: string } }): ComponentChildren => <a href={places.customer(account.id)}>{account.name}</a>;

const INVOICES: readonly Column<Invoice>[] = [
  invoiceColumns.number,
  { title: 'Customer', cell: customer },
  invoiceColumns.issued,
  invoiceColumns.due,
  invoiceColumns.status,
  invoiceColumns.total,
  invoiceColumns.open,
];

const PAYMENTS: readonly Column<Payment>[] = [
  paymentColumns.number,
  { title: 'Customer', cell: customer },
  paymentColumns.date,
  paymentColumns.method,
  { title: 'Collected by', cell: ({ collected_by: by }) => by?.name ?? <span class="soft">–</span> },
  paymentColumns.status,
  paymentColumns.amount,
];
