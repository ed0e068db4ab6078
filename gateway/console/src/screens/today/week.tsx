import type { Visit } from '../../api/business.ts';
import type { Technician } from '../../api/schedule.ts';
import { Table, type Column } from '../../parts/table.tsx';
import { timeOfDay } from '../../parts/time.tsx';
import { places } from '../../state/route.ts';
import { workOf } from '../records/columns.tsx';

interface Row extends Technician {
  readonly visits: readonly Visit[];
}

interface Given {
  days: readonly { readonly day: string; readonly title: string }[];
  technicians: readonly Technician[];
  visits: readonly Visit[];
  /** The company-local day of an instant. */
  dayOf: (at: string) => string;
}

/** The visits of each technician on the days of a week. */
export function Week({ days, technicians, visits, dayOf }: Given) {
  const live = visits.filter(({ canceled }) => !canceled);
  const has = (visit: Visit, id: string): boolean => workOf(visit).some(({ team_member: member }) => member.id === id);
  const rows: Row[] = [
    { id: '', name: 'Without a technician', visits: live.filter(({ dispatch_status: status }) => status === 'UNASSIGNED') },
    ...technicians.map((technician) => ({ ...technician, visits: live.filter((visit) => has(visit, technician.id)) })),
  ];
  const columns: Column<Row>[] = [
    { title: 'Technician', cell: ({ name }) => <strong>{name}</strong> },
    ...days.map(({ day, title }) => ({
      title,
      cell: ({ visits: own }: Row) => {
        const those = own.filter(({ starts_at: at }) => dayOf(at) === day);
        if (those.length === 0) return <span class="soft">–</span>;
        return (
          <ul class="plain">
            {those.map(({ id, starts_at: at, job }) => (
              <li key={id}>
                <a href={places.record('visits', id)}>{timeOfDay(at)}</a> <span class="soft">{job.account.name}</span>
              </li>
            ))}
          </ul>
        );
      },
    })),
  ];
  return <Table caption="Visits of the week by technician" rows={rows} rowKey={({ id }) => id} columns={columns} />;
}
