// Time in whole minutes: what an entry lasted and what a timesheet comes to (decisions §1).
import type { JsonProblem } from '@truckroll/contract';
import type { TimeEntry } from '@truckroll/contract/gen/scheduling/v1/time_entries';
import type { Timesheet } from '@truckroll/contract/gen/scheduling/v1/timesheets';
import type { Changed } from '@truckroll/record-store';
import type { Transaction } from '@truckroll/service-kit';

const MICROS_PER_MINUTE = 60_000_000;

/** Whole minutes between two instants in microseconds; null while the entry is running. */
export function minutesOf({ starts_at, ends_at }: Pick<TimeEntry, 'starts_at' | 'ends_at'>): number | null {
  return ends_at == null ? null : Math.floor((ends_at - starts_at) / MICROS_PER_MINUTE);
}

/** An entry that ended before it began would take minutes off its timesheet. */
export function checkTimeEntry({ starts_at, ends_at }: TimeEntry): JsonProblem[] {
  if (ends_at == null || ends_at >= starts_at) return [];
  return [{ field: 'ends_at', code: 'RANGE_ORDER', message: 'Give an end that is not before starts_at, or null while it is running.' }];
}

export async function deriveTimeEntries(
  _tx: Transaction,
  _companyId: string,
  batch: readonly Changed<TimeEntry>[],
): Promise<ReadonlyMap<string, Partial<TimeEntry>>> {
  return new Map(batch.map(({ id, record }) => [id, { duration_minutes: minutesOf(record) }]));
}

type Totals = Pick<Timesheet, 'entry_count' | 'total_minutes' | 'paid_minutes'>;
const NO_ENTRIES: Totals = { entry_count: 0, total_minutes: 0, paid_minutes: 0 };

/** Running entries count as entries and add no minutes. */
export async function deriveTimesheets(
  tx: Transaction,
  companyId: string,
  batch: readonly Changed<Timesheet>[],
): Promise<ReadonlyMap<string, Totals>> {
  const { rows } = await tx.query<{ timesheet_id: string } & Totals>({
    name: 'entries_of_timesheets',
    text: `select e.timesheet_id, count(*) as entry_count, coalesce(sum(e.duration_minutes), 0) as total_minutes,
        coalesce(sum(e.duration_minutes) filter (where e.paid), 0) as paid_minutes
      from unnest($2::uuid[]) s(id) join time_entries e on e.company_id = $1 and e.timesheet_id = s.id
      group by e.timesheet_id`,
    values: [companyId, batch.map(({ id }) => id)],
  });
  const totals = new Map(rows.map(({ timesheet_id, ...sums }) => [timesheet_id, sums]));
  return new Map(batch.map(({ id }) => [id, totals.get(id) ?? NO_ENTRIES]));
}
