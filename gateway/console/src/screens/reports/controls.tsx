import { go, goInstead } from '../../state/route.ts';
import { BUCKETS, PERIODS, daysInWords, usualBucket, type Bucket, type Period } from './calendar.ts';
import { DateRange } from './date-range.tsx';
import { NameFilter } from './name-filters.tsx';
import { addressWith, type Change, type View } from './view.ts';

const PERIOD_NAMES: Record<Exclude<Period, 'custom'>, string> = {
  month: 'This month',
  'last-month': 'Last month',
  quarter: 'This quarter',
  year: 'Year to date',
};
const NAMED = PERIODS.filter((each) => each !== 'custom');
const BUCKET_NAMES: Record<Bucket, string> = { day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter', year: 'Year' };

/** What the report shows. Everything chosen here is in the address. */
export function Controls({ view, query }: { view: View; query: URLSearchParams }) {
  const { report, period, range, from, to, bucket, group, measure, compare, excluded, filters } = view;
  const place = (change: Change): string => addressWith(report, query, change);
  const set = (change: Change): void => go(place(change));

  return (
    <form class="filters report-filters" aria-label="What the report shows" onSubmit={(event) => event.preventDefault()}>
      <DateRange
        label="Period"
        text={period === 'custom' ? daysInWords(from, to) : PERIOD_NAMES[period]}
        from={from}
        to={to}
        required
        presets={NAMED.map((each) => ({
          title: PERIOD_NAMES[each],
          chosen: each === period,
          choose: () => set({ period: each === 'month' ? undefined : each, from: undefined, to: undefined, bucket: undefined }),
        }))}
        onGiven={(first, last) =>
          // An input of a date reports every key press, so these addresses do not go into the history.
          period === 'custom' ? goInstead(place({ from: first, to: last })) : set({ period: 'custom', from: first, to: last, bucket: undefined })
        }
      />
      <label>
        Interval
        <select
          name="bucket"
          value={bucket}
          onChange={({ currentTarget }) => set({ bucket: currentTarget.value === usualBucket(range) ? undefined : currentTarget.value })}
        >
          {BUCKETS.map((each) => (
            <option key={each} value={each}>
              {BUCKET_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      {report.groups.length > 1 && (
        <label>
          Group by
          <select name="group" value={group.key} onChange={({ currentTarget }) => set({ group: currentTarget.value })}>
            {report.groups.map(({ key, title }) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Figure
        <select name="measure" value={measure.key} onChange={({ currentTarget }) => set({ measure: currentTarget.value })}>
          {report.measures.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {report.filters.map((filter) => (
        <NameFilter key={filter.name} filter={filter} values={filters[filter.name]!} onChange={(values) => set({ [filter.name]: values })} />
      ))}
      <div class="switches">
        <label class="choice">
          <input type="checkbox" name="compare" checked={compare} onChange={() => set({ compare: compare ? undefined : 'yes' })} />
          Compare with the previous period
        </label>
        {report.excludable && (
          <label class="choice">
            <input type="checkbox" name="excluded" checked={excluded} onChange={() => set({ excluded: excluded ? undefined : 'yes' })} />
            Include excluded job types
          </label>
        )}
      </div>
    </form>
  );
}
