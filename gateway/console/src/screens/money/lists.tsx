import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Query } from '../../api/client.ts';
import type { Invoice, Payment } from '../../api/business.ts';
import { readNewest, type Listed } from '../../api/reports.ts';
import { number } from '../../parts/figures.ts';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Loaded } from '../../parts/part.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { today } from '../../parts/time.tsx';
import { METHODS, titleCase } from '../../parts/words.ts';
import { readAccountNames, useNames } from '../../state/names.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { go, goInstead, places, route } from '../../state/route.ts';
import { searchable } from '../../state/search.ts';
import { useStore } from '../../state/store.ts';
import { invoiceColumns, paymentColumns } from '../records/columns.tsx';
import { dueWhere, isOfAge, type Late } from '../reports/aging.ts';
import { addDays, addMonths, daysInWords, firstOfMonth } from '../reports/calendar.ts';
import { DateRange } from '../reports/date-range.tsx';
import { AGES } from '../reports/definitions.ts';
import { centsIn, dayAfter, dayIn, faultsOf, type Filter } from './filters.ts';
import { Tabs } from './tabs.tsx';

/** Most records that are loaded to sort them and add them up. */
const MOST = 1000;

const ANY = ['', 'All'] as const;
const named = (code: string): readonly [value: string, title: string] => [code, titleCase(code)];

const SHOWN: readonly (readonly [value: string, title: string])[] = [
  ['OPEN', 'Open'],
  ['OPEN_ALL', 'Open, also what owes nothing'],
  ['OVERDUE', 'Overdue'],
  ['OVERDUE_ALL', 'Overdue, also what owes nothing'],
  ...Object.entries(AGES).map(([age, title]) => [age, age === 'CURRENT' ? title : `Overdue ${title.toLowerCase()}`] as const),
  ...['PAID', 'DRAFT', 'VOIDED', 'UNCOLLECTABLE', 'ALL'].map(named),
];

const STATES = ['PAID', 'PENDING', 'PROCESSING', 'SUBMITTING', 'FAILED', 'CANCELED'].map(named);

const INVOICE_FILTERS: readonly Filter[] = [
  { name: 'show', title: 'Show', choices: SHOWN },
  { name: 'q', title: 'Number' },
  { name: 'from', to: 'to', title: 'Issued' },
  { name: 'due_from', to: 'due_to', title: 'Due' },
  { name: 'least', title: 'Owed at least', dollars: true },
];

const PAYMENT_FILTERS: readonly Filter[] = [
  { name: 'status', title: 'Status', choices: [ANY, ...STATES] },
  { name: 'method', title: 'Method', choices: [ANY, ...METHODS.map(({ id, name }) => [id, name] as const)] },
  { name: 'q', title: 'Number' },
  { name: 'from', to: 'to', title: 'Received' },
];

/** Invoices by the filters in the address: at first those on which something is owed. */
export function Invoices() {
  const { query } = useStore(route);
  const show = SHOWN.find(([value]) => value === query.get('show'))?.[0] ?? 'OPEN';
  const shown = show.replace('_ALL', '');
  const age = shown === 'OVERDUE' || Object.hasOwn(AGES, shown) ? (shown as Late) : undefined;
  const due = { due_from: dayIn(query, 'due_from'), due_before: dayAfter(query, 'due_to') };
  const least = centsIn(query.get('least') ?? '') ?? 0;
  const asked: Query = {
    status: show === 'ALL' ? undefined : age === undefined ? shown : 'OPEN',
    ...(age !== undefined && due.due_from === undefined && due.due_before === undefined ? dueWhere(age) : due),
    issued_from: dayIn(query, 'from'),
    issued_before: dayAfter(query, 'to'),
    open_balance_from: least > 0 ? least : undefined,
    account_id: query.get('account_id') ?? undefined,
    search: searchable(query.get('q') ?? ''),
  };
  return (
    <List<Invoice>
      title="Invoices"
      path="invoices"
      asked={asked}
      keep={(invoice) => age === undefined || isOfAge(invoice, age)}
      // Open invoices on which nothing is owed need no work.
      leftOut={(show === 'OPEN' || show === 'OVERDUE') && { is: ({ amounts }) => amounts.open_balance_cents === 0, listed: { show: `${show}_ALL` } }}
      none={
        shown === 'OPEN' ? (
          <>
            None of the open invoices match. <a href={changed({ show: 'ALL' })}>Search all</a>
          </>
        ) : undefined
      }
      date={({ issued_at: at, created_at: made }) => at ?? made}
      columns={INVOICES}
      sums={[
        ['Total', ({ amounts }) => amounts.total_cents],
        ['Open', ({ amounts }) => amounts.open_balance_cents],
      ]}
      counted={show === 'ALL' ? ['OPEN', 'PAID'] : undefined}
      filters={INVOICE_FILTERS}
    />
  );
}

/** Payments by the filters in the address. */
export function Payments() {
  const { query } = useStore(route);
  const status = query.get('status') ?? undefined;
  const asked: Query = {
    status,
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
      // Only money that was received is added up.
      counted={status === undefined ? ['PAID'] : undefined}
      filters={PAYMENT_FILTERS}
    />
  );
}

interface Given<T> {
  title: string;
  path: string;
  asked: Query;
  /** Whether a record that the API returned is one of those asked for. */
  keep?: (record: T) => boolean;
  /** Which records are not listed although they were asked for, and the change of the address that lists them. */
  leftOut?: false | { readonly is: (record: T) => boolean; readonly listed: Readonly<Record<string, string>> };
  /** What is said if none match, unless it is to change the filters. */
  none?: ComponentChildren;
  date: (record: T) => string;
  columns: readonly Column<T>[];
  /** Columns that are added up. */
  sums: readonly (readonly [title: string, of: (record: T) => number])[];
  /** Statuses of the records that are added up, if not all are. */
  counted: readonly string[] | undefined;
  filters: readonly Filter[];
}

function List<T extends { id: string; created_at: string; status: string | null }>(given: Given<T>) {
  const { title, path, asked, keep = () => true, leftOut = false, none, date, columns, sums, counted, filters } = given;
  const { query } = useStore(route);
  const faults = faultsOf(filters, query);
  const list = useResource(
    `${path} ${faults.size} ${JSON.stringify(asked)}`,
    async (signal): Promise<Listed<T>> => (faults.size > 0 ? { records: [], more: false } : readNewest<T>(path, asked, MOST, signal)),
    undefined,
    undefined,
    RARELY_MS,
  );
  return (
    <Page title={title} beside={<Tabs current={title} />} live={[list]}>
      <form class="filters" aria-label={`Filters of ${title.toLowerCase()}`} onSubmit={(event) => event.preventDefault()}>
        {filters.map((filter) =>
          filter.to === undefined ? <Field key={filter.name} filter={filter} fault={faults.get(filter.name)} /> : <Days key={filter.name} filter={filter} />,
        )}
      </form>
      <Pills filters={filters} />
      {faults.size > 0 ? (
        <p class="empty">Correct the filter that is marked above. Nothing is listed until then.</p>
      ) : (
        <Loaded resource={{ ...list, problem: list.value === undefined ? list.problem : undefined }} lines={8}>
          {({ records: all, more }) => {
            const kept = all.filter(keep).sort((a, b) => date(b).localeCompare(date(a)));
            const records = kept.filter((record) => leftOut === false || !leftOut.is(record));
            const summed = counted === undefined ? records : records.filter(({ status }) => counted.includes(status ?? ''));
            const sumOf = (of: string): string | undefined => {
              const cents = sums.find(([name]) => name === of)?.[1];
              return cents && dollars(summed.reduce((sum, record) => sum + cents(record), 0));
            };
            return (
              <>
                <p class="soft" role="status">
                  {more
                    ? `More match. These ${number(records.length)} were created last, and have no sum: choose fewer days or another filter.`
                    : `${number(records.length)} ${records.length === 1 ? title.slice(0, -1).toLowerCase() : title.toLowerCase()}, newest first`}
                  {!more && leftOut !== false && kept.length > records.length && (
                    <>
                      . {number(kept.length - records.length)} more {kept.length - records.length === 1 ? 'owes' : 'owe'} nothing:{' '}
                      <a href={changed(leftOut.listed)}>list them, too</a>
                    </>
                  )}
                </p>
                {records.length === 0 ? (
                  <p class="empty">{none ?? 'None match. Change the filters.'}</p>
                ) : (
                  <Table
                    linked
                    caption={more ? `${title}, only some of them` : `${title}, newest first`}
                    rows={records}
                    rowKey={({ id }) => id}
                    columns={columns.map((column, index) => ({
                      ...column,
                      ...(!more && {
                        total: index > 0 ? sumOf(column.title) : counted === undefined ? 'Sum' : `Sum of ${counted.map(titleCase).join(' and ').toLowerCase()}`,
                      }),
                    }))}
                  />
                )}
              </>
            );
          }}
        </Loaded>
      )}
    </Page>
  );
}

/** The address with other parameters. */
function changed(values: Readonly<Record<string, string>>): string {
  const { path, query } = route.value;
  const next = { ...Object.fromEntries(query), ...values };
  return path[1] === 'payments' ? places.payments(next) : places.invoices(next);
}

const change = (values: Readonly<Record<string, string>>): void => go(changed(values));

function Field({ filter: { name, title, dollars: isAmount, choices }, fault }: { filter: Filter; fault: string | undefined }) {
  const { query } = useStore(route);
  const value = query.get(name) ?? '';
  const ties = {
    name,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': fault && `${name}-wrong`,
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) => change({ [name]: currentTarget.value.trim() }),
  };
  return (
    <div>
      <label>
        {title}
        {isAmount && ', in dollars'}
        {choices === undefined ? (
          // The text of an input for numbers is unknown if it is no number.
          <input {...ties} type="search" inputMode={isAmount ? 'decimal' : 'search'} autocomplete="off" value={value} />
        ) : (
          <select {...ties} value={value || choices[0]![0]}>
            {choices.map(([each, text]) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        )}
      </label>
      {fault !== undefined && (
        <p class="error" id={`${name}-wrong`} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

const monthOf = (first: string): readonly [from: string, to: string] => [first, addDays(addMonths(first, 1), -1)];

/** The days of a range, of which either end may be open. */
function Days({ filter }: { filter: Filter }) {
  const { name, title, to: end = '' } = filter;
  const { query } = useStore(route);
  const [from, to] = [query.get(name) ?? '', query.get(end) ?? ''];
  const month = firstOfMonth(today());
  const place = (first: string, last: string): string => changed({ [name]: first, [end]: last });
  const preset = (text: string, [first, last]: readonly [from: string, to: string]) => ({
    title: text,
    chosen: from === first && to === last,
    choose: () => go(place(first, last)),
  });
  return (
    <DateRange
      label={title}
      text={daysInWords(from, to) || 'Any day'}
      from={from}
      to={to}
      presets={[preset('Any day', ['', '']), preset('This month', monthOf(month)), preset('Last month', monthOf(addMonths(month, -1)))]}
      onGiven={(first, last) => (from + to === '' ? go : goInstead)(place(first, last))}
    />
  );
}

/** What the filter is set to, in words; undefined if it is not. */
function setTo({ name, to, title, dollars: isAmount, choices }: Filter, query: URLSearchParams): string | undefined {
  const value = query.get(name) ?? '';
  const text =
    choices !== undefined
      ? value !== choices[0]![0] && (choices.find(([each]) => each === value)?.[1] ?? value)
      : to !== undefined
        ? daysInWords(value, query.get(to) ?? '')
        : isAmount && centsIn(value) !== undefined
          ? dollars(centsIn(value)!)
          : value;
  return text ? `${title}: ${text}` : undefined;
}

/** A pill for each filter that is set, which removes it. */
function Pills({ filters }: { filters: readonly Filter[] }) {
  const { query } = useStore(route);
  const id = query.get('account_id');
  const names = useNames(`accounts ${id}`, () => readAccountNames(id === null ? [] : [id]));
  const set = [
    ...(id === null ? [] : [[['account_id'], `Customer: ${names?.[0]?.name ?? '…'}`] as const]),
    ...filters.flatMap((filter) => {
      const text = setTo(filter, query);
      return text === undefined ? [] : [[[filter.name, filter.to ?? filter.name], text] as const];
    }),
  ];
  const row = useRef<HTMLParagraphElement>(null);
  /** The place of the pill that was removed with the focus on it. */
  const removed = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (removed.current === undefined) return;
    const left = row.current?.querySelectorAll('button');
    (left?.[Math.min(removed.current, set.length - 1)] ?? document.querySelector<HTMLElement>('.filters select'))?.focus();
    removed.current = undefined;
  }, [set.length]);
  const remove = (at: number, names: readonly string[]): void => {
    removed.current = at;
    change(Object.fromEntries(names.map((name) => [name, ''])));
  };
  if (set.length === 0) return null;
  return (
    <p class="chosen" ref={row}>
      {set.map(([names, text], at) => (
        <button key={names[0]} type="button" class="small" aria-label={`${text}, remove`} onClick={() => remove(at, names)}>
          {text} <span aria-hidden="true">×</span>
        </button>
      ))}
      {set.length > 1 && (
        <button
          type="button"
          class="small"
          onClick={() =>
            remove(
              0,
              set.flatMap(([names]) => names),
            )
          }
        >
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
