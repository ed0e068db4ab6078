import { readReport, type ReportRow } from '../../api/reports.ts';
import { Columns } from '../../parts/columns.tsx';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Loaded } from '../../parts/part.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Day, today } from '../../parts/time.tsx';
import { METHODS, methodName } from '../../parts/words.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { go, goInstead, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { addDays, addMonths, isDay } from '../reports/calendar.ts';
import { Tabs } from './tabs.tsx';

interface Deposits {
  readonly day: string;
  /** Cents by the code of the payment method. */
  readonly received: ReadonlyMap<string, number>;
}

/** Most payment methods that have a column each without a choice of columns. */
const FEW = 6;

/** What was received on each day of a month, by payment method: to compare with the bank's statement. */
export function Deposits() {
  const { query } = useStore(route);
  const now = today().slice(0, 7);
  const given = query.get('month') ?? '';
  const month = isDay(`${given}-01`) ? given : now;
  const monthAfter = (months: number): string => addMonths(`${month}-01`, months).slice(0, 7);
  const days = useResource(`deposits of ${month}`, (signal) => readDeposits(month, signal), undefined, undefined, RARELY_MS);
  const column = query.get('column')?.split(',');
  const place = (other: string, methods: readonly string[] | undefined): string =>
    places.deposits({ month: other === now ? undefined : other, column: methods?.join() });
  const to = (other: string): string => place(other, column);
  return (
    <Page
      title="Deposits"
      beside={<Tabs current="Deposits" />}
      live={[days]}
      actions={
        <>
          <Steps before={{ href: to(monthAfter(-1)), title: 'The month before' }} after={{ href: to(monthAfter(1)), title: 'The next month' }}>
            <label class="day">
              <span class="unseen">Month</span>
              <input type="month" value={month} onChange={({ currentTarget: { value } }) => isDay(`${value}-01`) && go(to(value))} />
            </label>
          </Steps>
        </>
      }
    >
      <Loaded resource={{ ...days, problem: days.value === undefined ? days.problem : undefined }} lines={8}>
        {(found) =>
          found.length === 0 ? (
            <p class="empty">Nothing was received in this month.</p>
          ) : (
            <>
              <div class="spread">
                <p class="soft">Paid payments, on the day they occurred. Refunds are not subtracted: see the report of collections.</p>
                {methodsOf(found).length > FEW && (
                  <Columns all={methodsOf(found)} shown={shownOf(found, column)} show={(keys) => goInstead(place(month, keys))} />
                )}
              </div>
              <Table
                caption="Received by day and payment method"
                rows={found}
                rowKey={({ day }) => day}
                columns={columns(found, month, shownOf(found, column))}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

async function readDeposits(month: string, signal: AbortSignal): Promise<readonly Deposits[]> {
  const [start, end] = [`${month}-01`, addMonths(`${month}-01`, 1)];
  const { rows } = await readReport('collections', { start_date: start, end_date: end, bucket: 'day', group_by: 'payment_method' }, signal);
  const byDay = Map.groupBy(rows.filter(centsIn), ({ period_start: day }) => day);
  return [...byDay]
    .map(([day, of]) => ({ day, received: new Map(of.map((row) => [row.group!.value!, centsIn(row)])) }))
    .sort((a, b) => b.day.localeCompare(a.day));
}

const centsIn = (row: ReportRow): number => row['received_cents'] as number;

/** The payment methods of a month, those that the console knows first. */
function methodsOf(days: readonly Deposits[]): { key: string; title: string }[] {
  const used = new Set(days.flatMap(({ received }) => [...received.keys()]));
  const known = METHODS.map(({ id }) => id);
  const keys = [...known.filter((id) => used.has(id)), ...[...used].filter((id) => !known.includes(id))];
  return keys.map((key) => ({ key, title: methodName(key) }));
}

/** The methods that are chosen, or all of them if this month has none of those. */
function shownOf(days: readonly Deposits[], chosen: readonly string[] | undefined): string[] {
  const all = methodsOf(days).map(({ key }) => key);
  const shown = all.filter((key) => chosen?.includes(key));
  return shown.length > 0 ? shown : all;
}

function columns(days: readonly Deposits[], month: string, methods: readonly string[]): Column<Deposits>[] {
  const sum = (amounts: Iterable<number>): number => [...amounts].reduce((total, each) => total + each, 0);
  const whole = { from: `${month}-01`, to: addDays(addMonths(`${month}-01`, 1), -1) };
  const link = (cents: number, of: Readonly<Record<string, string>>) => <a href={places.payments({ status: 'PAID', ...of })}>{dollars(cents)}</a>;
  return [
    { title: 'Day', cell: ({ day }) => <Day at={day} />, total: 'Sum' },
    {
      title: 'Received',
      numeric: true,
      cell: ({ day, received }) => link(sum(received.values()), { from: day, to: day }),
      total: link(sum(days.flatMap(({ received }) => [...received.values()])), whole),
    },
    ...methods.map(
      (method): Column<Deposits> => ({
        title: methodName(method),
        numeric: true,
        cell({ day, received }) {
          const cents = received.get(method) ?? 0;
          return cents === 0 ? <span class="soft">–</span> : link(cents, { from: day, to: day, method });
        },
        total: link(sum(days.map(({ received }) => received.get(method) ?? 0)), { ...whole, method }),
      }),
    ),
  ];
}
