// Time in whole minutes: the recorded duration of an entry, and the totals of a timesheet (decisions §1, §12).
import type { JsonProblem } from '@truckroll/contract';
import type { TimeEntry } from '@truckroll/contract/gen/scheduling/v1/time_entries';
import type { Timesheet } from '@truckroll/contract/gen/scheduling/v1/timesheets';
import type { Transaction } from '@truckroll/postgres';
import { RecordError, type Changed } from '@truckroll/record-store';

const MICROS_PER_MINUTE = 60_000_000;
const MOST_MINUTES = 0x7fffffff;

/** An entry must not end before it starts, and has a duration exactly if it has ended. */
export function checkTimeEntry({ starts_at, ends_at, duration_minutes }: TimeEntry): JsonProblem[] {
  const problems: JsonProblem[] = [];
  if (ends_at != null && ends_at < starts_at) {
    problems.push({ field: 'ends_at', code: 'RANGE_ORDER', message: 'Give an end that is not before starts_at, or null while it is running.' });
  }
  if (ends_at != null && duration_minutes == null) {
    problems.push({ field: 'duration_minutes', code: 'MISSING', message: 'Give the recorded minutes: the entry has ended.' });
  }
  if (ends_at == null && duration_minutes != null) {
    problems.push({ field: 'duration_minutes', code: 'INVALID_FORMAT', message: 'Make it null while the entry is running, or give ends_at.' });
  }
  return problems;
}

/** Computes the duration for documents stored before durations were recorded. */
export async function deriveTimeEntries(
  _tx: Transaction,
  _companyId: string,
  batch: readonly Changed<TimeEntry>[],
): Promise<ReadonlyMap<string, Partial<TimeEntry>>> {
  return new Map(
    batch.flatMap(({ id, record: { starts_at, ends_at, duration_minutes } }): [string, Partial<TimeEntry>][] => {
      if (ends_at == null || duration_minutes != null) return [];
      return [[id, { duration_minutes: Math.floor((ends_at - starts_at) / MICROS_PER_MINUTE) }]];
    }),
  );
}

type Totals = Pick<Timesheet, 'entry_count' | 'total_minutes' | 'paid_minutes'>;
const NO_ENTRIES: Totals = { entry_count: 0, total_minutes: 0, paid_minutes: 0 };

/** Running entries are counted but add no minutes. Errors: RecordError for more minutes than a timesheet can hold. */
export async function deriveTimesheets(tx: Transaction, companyId: string, batch: readonly Changed<Timesheet>[]): Promise<ReadonlyMap<string, Totals>> {
  const { rows } = await tx.query<{ timesheet_id: string } & Totals>({
    name: 'entries_of_timesheets',
    text: `select e.timesheet_id, count(*) as entry_count, coalesce(sum(e.duration_minutes), 0) as total_minutes,
        coalesce(sum(e.duration_minutes) filter (where e.paid), 0) as paid_minutes
      from unnest($2::uuid[]) s(id) join time_entries e on e.company_id = $1 and e.timesheet_id = s.id
      group by e.timesheet_id`,
    values: [companyId, batch.map(({ id }) => id)],
  });
  for (const { timesheet_id, total_minutes } of rows) {
    if (total_minutes > MOST_MINUTES) throw new RecordError('timesheets', timesheet_id, 'total_minutes', String(MOST_MINUTES));
  }
  const totals = new Map(rows.map(({ timesheet_id, ...sums }) => [timesheet_id, sums]));
  return new Map(batch.map(({ id }) => [id, totals.get(id) ?? NO_ENTRIES]));
}
