import { zone } from '../../parts/time.tsx';
import { go, goInstead } from '../../state/route.ts';
import { BUCKETS, PERIODS, addDays, dayName, isDay, usualBucket, type Bucket, type Period } from './calendar.ts';
import { NameFilter } from './name-filters.tsx';
import { addressWith, isInverted, only, type Change, type View } from './view.ts';

const PERIOD_NAMES: Record<Period, string> = {
  month: 'This month',
  'last-month': 'Last month',
  quarter: 'This quarter',
  year: 'Year to date',
  custom: 'Custom',
};
const BUCKET_NAMES: Record<Bucket, string> = { day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter', year: 'Year' };

/** What the report shows. Everything chosen here is in the address. */
export function Controls({ view, query }: { view: View; query: URLSearchParams }) {
  const { report, period, range, bucket, group, measure, compare, excluded, filters } = view;
  const to = (change: Change): string => addressWith(report, query, change);
  const set = (change: Change): void => go(to(change));

  function chosen(next: Period): void {
    if (next === 'custom') return set(only(range));
    set({ period: next === 'month' ? undefined : next, from: undefined, to: undefined, bucket: undefined });
  }

  return (
    <form class="filters report-filters" aria-label="What the report shows" onSubmit={(event) => event.preventDefault()}>
      <label>
        Period
        <select name="period" value={period} onChange={({ currentTarget }) => chosen(currentTarget.value as Period)}>
          {PERIODS.map((each) => (
            <option key={each} value={each}>
              {PERIOD_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      {period === 'custom' && (
        <>
          {isInverted(query) && (
            <p class="warning">The range ends before it begins. Shown are the days from {dayName(range.start)} on: choose another last day.</p>
          )}
          <Day name="from" label="From" day={range.start} onGiven={(from) => goInstead(to({ from }))} />
          <Day name="to" label="To" day={addDays(range.end, -1)} least={range.start} onGiven={(last) => goInstead(to({ to: last }))} />
        </>
      )}
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

interface DayGiven {
  name: string;
  label: string;
  day: string;
  least?: string;
  onGiven: (day: string) => void;
}

function Day({ name, label, day, least, onGiven }: DayGiven) {
  return (
    <label>
      {label}
      <span class="unseen">, a day in {zone()}</span>
      <input
        name={name}
        type="date"
        value={day}
        min={least}
        required
        onChange={({ currentTarget: { value } }) => {
          // An input of a date reports every key press: `0002-01-01` while 2026 is typed.
          if (isDay(value) && value >= '1900-01-01') onGiven(value);
        }}
      />
    </label>
  );
}
