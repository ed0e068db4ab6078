import { useState } from 'preact/hooks';
import { inPages, readOwed, type Account, type Owed, type Payment } from '../../api/business.ts';
import { readList } from '../../api/reports.ts';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Failure, Loaded } from '../../parts/part.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { TileAmount } from '../../parts/tile-amount.tsx';
import { Day, today } from '../../parts/time.tsx';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { Mail, Telephone } from '../customers/reach.tsx';
import { AGES } from '../reports/definitions.ts';
import { readLastPayments } from './last-payments.ts';
import { Tabs } from './tabs.tsx';

/** Customers that are listed at first, and more at each request: at most 100, as the API returns of one list of ids. */
const STEP = 25;

type Row = Owed & { readonly id: string };

/** Who owes what for how long, and how to reach them. */
export function Money() {
  const [most, setMost] = useState(STEP);
  const owed = useResource('owed by all', (signal) => readOwed(undefined, signal), undefined, undefined, RARELY_MS);
  const rows: Row[] = [...(owed.value ?? [])].map(([id, of]) => ({ id, ...of }));
  const overdue = rows.filter((row) => row.overdue > 0).sort((a, b) => b.overdue - a.overdue);
  const ids = overdue.slice(0, most).map(({ id }) => id);
  const accounts = useResource(`accounts ${ids.join()}`, (signal) => readAccounts(ids, signal), undefined, undefined, RARELY_MS);
  const payments = useResource(`last payments of ${ids.join()}`, (signal) => readLastPayments(ids, today(), signal), undefined, undefined, RARELY_MS);
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return (
    <Page title="Money" beside={<Tabs current="Overdue" />} live={[owed]}>
      <Loaded resource={{ ...owed, problem: owed.value === undefined ? owed.problem : undefined }} lines={8}>
        {() => (
          <>
            <dl class="tiles">
              <div>
                <dt>Open balance</dt>
                <dd class="figure">
                  <TileAmount cents={sum(({ open }) => open)} href={places.invoices()} />
                </dd>
              </div>
              <div>
                <dt>Overdue</dt>
                <dd class="figure">
                  <TileAmount cents={sum((row) => row.overdue)} href={places.invoices({ show: 'OVERDUE' })} />
                </dd>
                <dd class="soft">due before today, less credits</dd>
              </div>
              <div>
                <dt>Customers who are overdue</dt>
                <dd class="figure">
                  {/* The list is below. The part of the address after # is the place, so the link cannot be one to an element. */}
                  <a
                    href={places.money}
                    onClick={(event) => {
                      event.preventDefault();
                      document.getElementById('overdue')!.focus();
                    }}
                  >
                    {overdue.length.toLocaleString()}
                  </a>
                </dd>
                <dd class="soft">whose overdue invoices exceed their credits</dd>
              </div>
            </dl>
            <section aria-labelledby="overdue">
              <h2 id="overdue" tabIndex={-1}>
                Overdue customers
              </h2>
              {accounts.problem && <Failure resource={accounts} what="Telephone numbers and e-mail addresses" />}
              {payments.problem && <Failure resource={payments} what="The last payments" />}
              {overdue.length === 0 ? (
                <p class="empty">No customer is overdue.</p>
              ) : (
                <Table
                  linked
                  caption="Overdue customers, highest amount first"
                  rows={overdue.slice(0, most)}
                  rowKey={({ id }) => id}
                  columns={columns(accounts.value, payments.value)}
                />
              )}
              {overdue.length > most && (
                <p class="pages">
                  <button type="button" onClick={() => setMost(most + STEP)}>
                    Show more
                  </button>
                  <span class="soft">
                    {most} of {overdue.length.toLocaleString()}
                  </span>
                </p>
              )}
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

async function readAccounts(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Account>> {
  const accounts = await inPages(ids, async (some) => (await readList<Account>('accounts', { ids: some }, some.length, signal)).records);
  return new Map(accounts.map((account) => [account.id, account]));
}

const columns = (accounts: ReadonlyMap<string, Account> | undefined, payments: ReadonlyMap<string, Payment> | undefined): Column<Row>[] => [
  {
    title: 'Customer',
    cell: ({ id, name }) => (
      <a class="name" href={places.customer(id)}>
        {name}
      </a>
    ),
  },
  {
    title: 'Overdue',
    numeric: true,
    cell: ({ id, overdue }) => <a href={places.invoices({ show: 'OVERDUE', account_id: id })}>{dollars(overdue)}</a>,
  },
  {
    title: 'Telephone and e-mail',
    cell: ({ id }) => {
      const { phone = null, email = null } = accounts?.get(id) ?? {};
      return (
        <>
          <Telephone number={phone} />
          {email !== null && (
            <span class="below">
              <Mail address={email} />
            </span>
          )}
        </>
      );
    },
  },
  {
    title: 'Last payment',
    cell({ id }) {
      const payment = payments?.get(id);
      if (payment === undefined) return <span class="soft">{payments === undefined ? '…' : 'None'}</span>;
      return (
        <a href={places.record('payments', payment.id)}>
          <Day at={payment.occurred_at} />
          <span class="below">{dollars(payment.amount_cents)}</span>
        </a>
      );
    },
  },
  ...Object.entries(AGES)
    .filter(([age]) => age !== 'CURRENT')
    .map(([age, title]) => ({
      title,
      numeric: true,
      cell: ({ id, ages }: Row) =>
        (ages[age] ?? 0) === 0 ? <span class="soft">–</span> : <a href={places.invoices({ account_id: id, show: age })}>{dollars(ages[age]!)}</a>,
    })),
];
