import { useEffect, useState } from 'preact/hooks';
import { save } from '../../parts/download.ts';
import { Page } from '../../parts/page.tsx';
import { ProblemBox } from '../../parts/problem-box.tsx';
import { today } from '../../parts/time.tsx';
import { useAction } from '../../state/action.ts';
import { go, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { addMonths, isDay, rangeName } from '../reports/calendar.ts';
import { BYTE_ORDER_MARK, saveWorkbook } from '../reports/downloads.tsx';
import { invoiceLines, paymentLines } from './ledger.ts';
import { inWords, readPack, type Check } from './pack.ts';
import { Tabs } from './tabs.tsx';

const LEDGERS = { invoices: invoiceLines, payments: paymentLines };

/** One spreadsheet with what an accountant needs of a month. */
export function MonthEnd() {
  const { query } = useStore(route);
  const given = query.get('month') ?? '';
  const month = isDay(`${given}-01`) ? given : addMonths(`${today().slice(0, 7)}-01`, -1).slice(0, 7);
  const range = { start: `${month}-01`, end: addMonths(`${month}-01`, 1) };
  const { busy, problem, run } = useAction();
  const [left] = useState(() => new AbortController());
  useEffect(() => () => left.abort(), []);
  const [read, setRead] = useState(0);
  const [made, setMade] = useState<{ month: string; checks: readonly Check[] } | undefined>(undefined);
  const checks = made?.month === month ? made.checks : undefined;
  const differ = checks?.filter(({ sum, reported }) => sum !== reported).length ?? 0;

  const make = async (): Promise<void> => {
    setMade(undefined);
    setRead(0);
    const pack = await readPack(range, setRead, left.signal);
    await saveWorkbook(`truckroll-month-end-${month}`, pack.sheets);
    setMade({ month, checks: pack.checks });
  };
  const saveLedger = async (of: 'invoices' | 'payments'): Promise<void> => {
    setRead(0);
    const text = await LEDGERS[of](range, setRead, left.signal);
    save(`truckroll-${of}-${month}.csv`, new Blob([BYTE_ORDER_MARK, text], { type: 'text/csv' }));
  };
  return (
    <Page title="Month end" beside={<Tabs current="Month end" />}>
      <p>
        One spreadsheet of {rangeName(range)}: invoices issued, payments with the invoices that they pay, refunds, tax by rate, sales by business unit and job
        type, and every invoice that is open now. The sum of each sheet is compared with the report that it belongs to. CSV is for accounting programs: a line
        per line item.
      </p>
      <ProblemBox problem={problem} title="The file was not made." focus />
      <div class="buttons">
        <label class="day">
          <span class="unseen">Month</span>
          <input
            type="month"
            value={month}
            disabled={busy}
            onChange={({ currentTarget: { value } }) => isDay(`${value}-01`) && go(places.monthEnd({ month: value }))}
          />
        </label>
        <button type="button" class="primary" disabled={busy} onClick={() => void run(make)}>
          Make the month-end pack
        </button>
        <button type="button" disabled={busy} onClick={() => void run(() => saveLedger('invoices'))}>
          Invoices as CSV
        </button>
        <button type="button" disabled={busy} onClick={() => void run(() => saveLedger('payments'))}>
          Payments as CSV
        </button>
      </div>
      <p role="status">
        {busy && `${read.toLocaleString()} records read…`}
        {checks !== undefined &&
          (differ === 0 ? 'The pack was saved. Every sum agrees with its report.' : 'The pack was saved, but not every sum agrees with its report.')}
      </p>
      {checks !== undefined && (
        <ul>
          {checks.map((check) => (
            <li key={`${check.sheet} ${check.of}`} class={check.sum === check.reported ? undefined : 'bad'}>
              <strong>{check.sheet}</strong>. {inWords(check)}
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
