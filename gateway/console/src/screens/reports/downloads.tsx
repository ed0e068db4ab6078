import { useState } from 'preact/hooks';
import { readReportCsv } from '../../api/reports.ts';
import { save } from '../../parts/download.ts';
import { number } from '../../parts/figures.ts';
import { ProblemBox } from '../../parts/problem-box.tsx';
import { useAction } from '../../state/action.ts';
import type { Sheet } from '../../xlsx/sheet.ts';
import { workbook } from '../../xlsx/xlsx.ts';
import { addDays, type Range } from './calendar.ts';
import { asked, type View } from './view.ts';

/** Without it, Excel does not know that a file is UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** "truckroll-collections-2026-03-01-to-2026-03-31" */
export const fileName = (report: string, { start, end }: Range): string => `truckroll-${report}-${start}-to-${addDays(end, -1)}`;

export async function saveWorkbook(name: string, sheets: readonly Sheet[]): Promise<void> {
  save(`${name}.xlsx`, await workbook(sheets));
}

/** Reads all records anew, and says how many it has. */
export function RecordsDownload({ make }: { make: (onProgress: (count: number) => void) => Promise<void> }) {
  const { busy, problem, run } = useAction();
  const [count, setCount] = useState(0);
  const start = (): Promise<void> => {
    setCount(0);
    return make(setCount);
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void run(start)}>
        {busy ? `Reading… ${number(count)}` : 'Download for Excel'}
      </button>
      <ProblemBox problem={problem} title="The file was not made." focus />
    </>
  );
}

export function Download({ name, sheets }: { name: string; sheets: () => Promise<readonly Sheet[]> }) {
  const { busy, problem, run } = useAction();
  return (
    <section class="downloads" aria-labelledby="downloads">
      <h2 id="downloads">Downloads</h2>
      <ProblemBox problem={problem} title="The file was not made." focus />
      <button type="button" disabled={busy} onClick={() => void run(async () => saveWorkbook(name, await sheets()))}>
        For Excel
      </button>
    </section>
  );
}

/** Downloads of a view: a spreadsheet of what it shows, and the rows of the API as CSV. */
export function Downloads({ view, sheets }: { view: View; sheets: () => Promise<readonly Sheet[]> }) {
  const { busy, problem, run } = useAction();
  const { report, range, bucket, group } = view;
  const name = fileName(report.name, range);
  const csv = async (amounts: 'cents' | 'decimal'): Promise<void> => {
    const parameters = { ...asked(view), start_date: range.start, end_date: range.end, bucket, group_by: group.key };
    const text = await readReportCsv(report.name, { ...parameters, ...(amounts === 'decimal' ? { amounts } : {}) });
    save(`${name}-${amounts === 'decimal' ? 'dollars' : 'cents'}.csv`, new Blob([BYTE_ORDER_MARK, text], { type: 'text/csv' }));
  };
  return (
    <section class="downloads" aria-labelledby="downloads">
      <h2 id="downloads">Downloads</h2>
      <ProblemBox problem={problem} title="The file was not made." focus />
      <div class="buttons">
        <button type="button" disabled={busy} onClick={() => void run(async () => saveWorkbook(name, await sheets()))}>
          For Excel
        </button>
        <button type="button" disabled={busy} onClick={() => void run(() => csv('decimal'))}>
          CSV in dollars
        </button>
        <button type="button" disabled={busy} onClick={() => void run(() => csv('cents'))}>
          CSV in cents
        </button>
      </div>
      <p class="hint">The spreadsheet has the columns that are shown here. CSV has all of them, and a row for each interval and {group.title.toLowerCase()}.</p>
    </section>
  );
}
