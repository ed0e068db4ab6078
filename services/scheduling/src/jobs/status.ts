// Jobs and leads show their status as the lifecycle currently defines it, and the line's copy until the lifecycle arrives.
import { JobLifecycle, type LifecycleStatus } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Transaction } from '@truckroll/postgres';

/** A status on a job or lead. Its id was recorded; the other fields come from the lifecycle. */
interface Shown extends Pick<LifecycleStatus, 'id' | 'name' | 'stage'>, Partial<Pick<LifecycleStatus, 'is_work_complete' | 'is_lead_won'>> {}

/** Current statuses by lifecycle and id; none for a lifecycle that has not arrived. */
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

/** `flag` is the field that the record shows: is_work_complete for jobs, is_lead_won for leads. */
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

/** Ids of statuses that jobs and leads now show differently; all of them if the lifecycle is new. */
export function changedStatuses(before: JobLifecycle | undefined, now: JobLifecycle): string[] {
  const shown = ({ name, stage, is_work_complete, is_lead_won }: LifecycleStatus): string => JSON.stringify([name, stage, is_work_complete, is_lead_won]);
  const former = new Map(before?.statuses.map((status) => [status.id, shown(status)]));
  const latest = new Map(now.statuses.map((status) => [status.id, shown(status)]));
  return [...new Set([...former.keys(), ...latest.keys()])].filter((id) => former.get(id) !== latest.get(id));
}

/** A status id is unique only within its lifecycle. */
function statusKey(lifecycleId: string, statusId: string): string {
  return `${lifecycleId} ${statusId}`;
}
