import { dollars, shortDollars } from './money.ts';
import type { Comparison, MonthSums } from './months.ts';
import { percent } from './figures.ts';
import { line, scaleTo } from './plot.ts';
import { Table } from './table.tsx';

interface Given {
  title: string;
  note: string;
  sums: MonthSums;
  comparison: Comparison;
  /** The records behind each figure. */
  behind: { current: string; last: string };
}

/** How an amount adds up in the course of this month and of the last one. */
export function MonthChart({ title, note, sums: { current, last }, comparison, behind }: Given) {
  const days = Math.max(current.length, last.length);
  // In whole dollars, so that the axis has a round number.
  const most = scaleTo(Math.max(...current, ...last) / 100) * 100;
  const rows = Array.from({ length: days }, (_, index) => index);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          <li>
            <span class="swatch p50" aria-hidden="true" /> This month so far <a href={behind.current}>{dollars(comparison.current)}</a>
          </li>
          <li>
            <span class="swatch p95" aria-hidden="true" /> Last month <a href={behind.last}>{dollars(comparison.last)}</a>
          </li>
        </ul>
      </figcaption>
      <p class="soft">{inWords(comparison)}</p>
      {[...current, ...last].every((cents) => cents === 0) ? (
        <p class="empty">Nothing in these two months.</p>
      ) : (
        <>
          <div class="plot static">
            <span class="top" aria-hidden="true">
              {shortDollars(most)}
            </span>
            <svg viewBox={`0 0 ${days * 10} 100`} preserveAspectRatio="none" role="img" aria-label={`${title}, added up day by day. ${inWords(comparison)}`}>
              <path class="grid" d={`M0 0.5H${days * 10}M0 50H${days * 10}M0 99.5H${days * 10}`} />
              <path class="p95" d={line(last, most)} />
              <path class="p50" d={line(current, most)} />
            </svg>
          </div>
          <div class="ticks" aria-hidden="true">
            <span>1</span>
            <span>{Math.round(days / 2)}</span>
            <span>{days}</span>
          </div>
        </>
      )}
      <p class="readout soft">{note}</p>
      <details class="as-table">
        <summary>
          As a table<span class="unseen">: {title}</span>
        </summary>
        <Table
          caption={`${title}, added up from the first of the month`}
          rows={rows}
          rowKey={String}
          columns={[
            { title: 'Day', cell: (index) => String(index + 1) },
            { title: 'This month', cell: (index) => orNone(current[index]) },
            { title: 'Last month', cell: (index) => orNone(last[index]) },
          ]}
        />
      </details>
    </figure>
  );
}

const orNone = (cents: number | undefined): string => (cents === undefined ? '–' : dollars(cents));

/** "12.3 % more than last month by this day, which was $4,000.00." */
function inWords({ change, lastByNow }: Comparison): string {
  if (change === undefined) return `Last month it was ${dollars(lastByNow)} by this day.`;
  if (change === 0) return `As much as last month by this day.`;
  return `${share(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than last month by this day, which was ${dollars(lastByNow)}.`;
}

const share = (change: number): string => (change < 1 ? percent(change) : `${Math.round(change * 100).toLocaleString()} %`);
