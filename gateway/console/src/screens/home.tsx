import type { ComponentChildren } from 'preact';
import { readCollected, readInvoiced, readReceivables, readSummary, type Balance } from '../api/home.ts';
import { number, waiting } from '../parts/figures.ts';
import { MonthChart } from '../parts/month-chart.tsx';
import { compare, sumsOf, twoMonths, type DayAmount } from '../parts/months.ts';
import { Page } from '../parts/page.tsx';
import { TileAmount } from '../parts/tile-amount.tsx';
import { today as dayIn } from '../parts/time.tsx';
import type { Attention } from '../state/attention.ts';
import { useResource, type Resource } from '../state/resource.ts';
import { places } from '../state/route.ts';

/** What an owner looks at in the morning: this month against the last one, what is owed, and what needs attention. */
export function Home({ attention }: { attention: Resource<Attention> }) {
  const today = dayIn();
  const days = twoMonths(today);
  const invoiced = useResource(`invoiced ${today}`, (signal) => readInvoiced(days, signal));
  const collected = useResource(`collected ${today}`, (signal) => readCollected(days, signal));
  const receivables = useResource('receivables', readReceivables);
  const summary = useResource('summary', readSummary);
  return (
    <Page title="Home" live={[invoiced, collected, receivables, summary, attention]}>
      <section aria-labelledby="attention">
        <h2 id="attention">Now</h2>
        <dl class="tiles">
          <Owed title="Open balance" balance={receivables.value?.open} href={places.invoices({ show: 'OPEN_ALL' })} />
          <Owed title="Overdue" balance={receivables.value?.overdue} href={places.invoices({ show: 'OVERDUE_ALL' })} bad note="due before today" />
          <Tile title="Unbooked service requests" figure={summary.value?.unbookedServiceRequests} href={places.today()}>
            without a visit, and not closed
          </Tile>
          <Endpoints attention={attention.value} />
        </dl>
      </section>
      <section aria-labelledby="months">
        <h2 id="months">This month and last month</h2>
        <div class="charts">
          <Month title="Invoiced" note="Net sales by date of issue: after discounts, before tax" report="invoice-activity" of={invoiced} today={today} />
          <Month title="Collected" note="Payments less refunds, by their dates" report="collections" of={collected} today={today} />
        </div>
      </section>
    </Page>
  );
}

function Endpoints({ attention }: { attention: Attention | undefined }) {
  const { failing = 0, degraded = 0, paused = 0, waiting: backlog = 0 } = attention ?? {};
  const parts = [
    ...(failing > 0 ? [`${number(failing)} failing`] : []),
    ...(degraded > 0 ? [`${number(degraded)} degraded`] : []),
    ...(paused > 0 ? [`${number(paused)} paused`] : []),
    ...(backlog > 0 ? [waiting(backlog)] : []),
  ];
  return (
    <Tile title="Endpoints with problems" figure={attention && failing + degraded} bad>
      {parts.length > 0 && `${parts.join(', ')}. `}
      <a href={places.endpoints}>See the endpoints</a>
    </Tile>
  );
}

interface TileGiven {
  title: string;
  figure: number | undefined;
  /** Where the records of the figure are. */
  href?: string;
  bad?: boolean;
  children: ComponentChildren;
}

function Tile({ title, figure, href, bad = false, children }: TileGiven) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class={bad && figure !== undefined && figure > 0 ? 'figure bad' : 'figure'}>
        {figure === undefined ? '–' : href === undefined ? number(figure) : <a href={href}>{number(figure)}</a>}
      </dd>
      <dd class="soft">{children}</dd>
    </div>
  );
}

function Owed({ title, balance, href, bad = false, note }: { title: string; balance: Balance | undefined; href: string; bad?: boolean; note?: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class={bad && balance !== undefined && balance.cents > 0 ? 'figure bad' : 'figure'}>
        {balance === undefined ? '–' : <TileAmount cents={balance.cents} href={href} />}
      </dd>
      <dd class="soft">{balance !== undefined && `${number(balance.count)} ${balance.count === 1 ? 'invoice' : 'invoices'}${note ? ` ${note}` : ''}`}</dd>
    </div>
  );
}

interface MonthGiven {
  title: string;
  note: string;
  report: string;
  of: Resource<DayAmount[]>;
  today: string;
}

function Month({ title, note, report, of: { value }, today }: MonthGiven) {
  if (value === undefined) return null;
  const sums = sumsOf(value, today);
  const recordsOf = (period: string): string => places.report([report, 'records'], new URLSearchParams({ period }));
  const behind = { current: recordsOf('month'), last: recordsOf('last-month') };
  return <MonthChart title={title} note={note} sums={sums} comparison={compare(sums)} behind={behind} />;
}
