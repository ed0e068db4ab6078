import type { Visit } from '../../api/business.ts';
import { MOST_VISITS, readVisits } from '../../api/schedule.ts';
import { Page } from '../../parts/page.tsx';
import { Part } from '../../parts/part.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { timeOfDay, today } from '../../parts/time.tsx';
import { useResource } from '../../state/resource.ts';
import { go, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { visitColumns } from '../records/columns.tsx';
import { addDays, dayName } from '../reports/calendar.ts';

/** The visits of a day by time, those without a technician first. */
export function Schedule() {
  const { query } = useStore(route);
  const now = today();
  const given = query.get('day') ?? '';
  const day = /^\d{4}-\d\d-\d\d$/.test(given) ? given : now;
  const visits = useResource(`visits of ${day}`, (signal) => readVisits(day, addDays(day, 1), signal));
  const to = (other: string): string => places.schedule({ day: other === now ? undefined : other });
  return (
    <Page
      title={`Schedule of ${day === now ? 'today' : dayName(day)}`}
      live={[visits]}
      actions={
        <>
          <Steps before={{ href: to(addDays(day, -1)), title: 'The day before' }} after={{ href: to(addDays(day, 1)), title: 'The next day' }}>
            <label class="day">
              <span class="unseen">Day</span>
              <input type="date" value={day} onChange={({ currentTarget: { value } }) => value !== '' && go(to(value))} />
            </label>
          </Steps>
          {day !== now && (
            <a class="button small" href={to(now)}>
              Today
            </a>
          )}
        </>
      }
    >
      <Part title="Without a technician" resource={visits} beside={({ records }) => count(records.filter(isUnassigned))}>
        {({ records }) => <Visits of={records.filter(isUnassigned)} caption="Visits without a technician" none="Every visit has a technician." />}
      </Part>
      <Part title="Visits" resource={visits} beside={({ records }) => count(records.filter((visit) => !isUnassigned(visit)))}>
        {({ records, more }) => (
          <>
            {more && <p class="soft">There are more than {MOST_VISITS.toLocaleString()}: these are some of them.</p>}
            <Visits of={records.filter((visit) => !isUnassigned(visit))} caption="Visits with a technician, and canceled ones" none="None on this day." />
          </>
        )}
      </Part>
    </Page>
  );
}

const count = (of: readonly unknown[]): string => of.length.toLocaleString();
const isUnassigned = ({ dispatch_status: status }: Visit): boolean => status === 'UNASSIGNED';

function Visits({ of, caption, none }: { of: readonly Visit[]; caption: string; none: string }) {
  if (of.length === 0) return <p class="soft">{none}</p>;
  return <Table linked caption={caption} rows={of} rowKey={({ id }) => id} columns={COLUMNS} />;
}

const COLUMNS: readonly Column<Visit>[] = [
  {
    title: 'Time',
    cell: ({ id, starts_at: from, ends_at: to, window_start_at: first, window_end_at: last }) => (
      <>
        <a class="name window" href={places.record('visits', id)}>
          {timeOfDay(from)} – {timeOfDay(to)}
        </a>
        <span class="soft below window">
          arrives {timeOfDay(first)} – {timeOfDay(last)}
        </span>
      </>
    ),
  },
  visitColumns.visit,
  { title: 'Customer', cell: ({ job: { account } }) => <a href={places.customer(account.id)}>{account.name}</a> },
  { title: 'Where', cell: ({ job: { location } }) => location.address },
  visitColumns.technicians,
  visitColumns.status,
];
