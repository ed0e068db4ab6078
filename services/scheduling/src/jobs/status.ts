// Jobs and leads show the latest of their status as the lifecycle tells it, and their line's copy until it does.
import { JobLifecycle, type LifecycleStatus } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Transaction } from '@truckroll/service-kit';

/** A status as a job or lead shows it. Its id is what was recorded; the rest is the lifecycle's. */
interface Shown extends Pick<LifecycleStatus, 'id' | 'name' | 'stage'>, Partial<Pick<LifecycleStatus, 'is_work_complete' | 'is_lead_won'>> {}

/** The latest statuses of lifecycles, by id: none of a lifecycle that has not arrived. */
export type Statuses = ReadonlyMap<string, LifecycleStatus>;

export async function statusesOf(tx: Transaction, companyId: string, lifecycleIds: Iterable<string>): Promise<Statuses> {
  const rows = await tx.queryBinary({
    name: 'lifecycles_of_jobs',
    text: `select l.document from unnest($2::uuid[]) u(id) join job_lifecycles l on l.company_id = $1 and l.id = u.id`,
    values: [companyId, [...new Set(lifecycleIds)]],
  });
  const lifecycles = rows.map(([document]) => JobLifecycle.decode(document as Buffer));
  return new Map(lifecycles.flatMap(({ id, statuses }) => statuses.map((status) => [statusKey(id, status.id), status])));
}

/** `flag` is the one that the record shows: is_work_complete of jobs, is_lead_won of leads. */
export function latestStatus<S extends Shown>(
  recorded: S | null | undefined,
  lifecycle: { id: string } | null | undefined,
  flag: 'is_work_complete' | 'is_lead_won',
  statuses: Statuses,
): S | null {
  if (recorded == null) return null;
  const latest = statuses.get(statusKey(lifecycle?.id ?? '', recorded.id));
  return latest === undefined ? recorded : { ...recorded, name: latest.name, stage: latest.stage, [flag]: latest[flag] };
}

/** Statuses that jobs and leads would now show otherwise than before; all of them where the lifecycle is new. */
export function changedStatuses(before: JobLifecycle | undefined, now: JobLifecycle): string[] {
  const shown = ({ name, stage, is_work_complete, is_lead_won }: LifecycleStatus): string => JSON.stringify([name, stage, is_work_complete, is_lead_won]);
  const former = new Map(before?.statuses.map((status) => [status.id, shown(status)]));
  const latest = new Map(now.statuses.map((status) => [status.id, shown(status)]));
  return [...new Set([...former.keys(), ...latest.keys()])].filter((id) => former.get(id) !== latest.get(id));
}

/** A status belongs to its lifecycle: the same id elsewhere is another. */
function statusKey(lifecycleId: string, statusId: string): string {
  return `${lifecycleId} ${statusId}`;
}
