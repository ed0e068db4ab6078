// A visit as the API shows it, built from rows, and the fields derived from its assignments.
import { createHash } from 'node:crypto';

type Texts<Names extends string> = Readonly<Record<Names, string>>;
type Optional<Names extends string> = Readonly<Record<Names, string | null>>;

export type AssignmentRow = Texts<'id' | 'job_id' | 'appointment_id' | 'starts_at' | 'ends_at' | 'status' | 'status_updated_at' | 'created_at'> &
  Optional<'team_member_id' | 'team_member_name' | 'updated_at'>;
export type Assignment = ReturnType<typeof assignmentOf>;

type Referring = 'created_by' | 'account' | 'location' | 'contact' | 'business_unit' | 'job_type';
export type VisitRow = Texts<'id' | 'number' | 'job_id' | 'type' | 'description' | 'window_start_at' | 'window_end_at' | 'created_at' | 'updated_at'> &
  Texts<'kind' | 'starts_at' | 'ends_at' | 'revision' | 'dispatch_status' | 'job_number'> &
  Optional<'cancellation_reason' | 'cancellation_note' | 'job_summary' | 'job_class' | 'address' | `${Referring}_id` | `${Referring}_name`> & {
    readonly confirmed: boolean;
    readonly canceled: boolean;
    readonly latitude: number | null;
    readonly longitude: number | null;
    readonly event_sequence: number;
  };
export type Visit = ReturnType<typeof visitOf>;

const reference = (id: string | null, name: string | null) => (id === null ? null : { id, name });

export function assignmentOf({ team_member_id, team_member_name, ...own }: AssignmentRow) {
  return { ...own, team_member: reference(team_member_id, team_member_name) };
}

function dispatchStatusOf(canceled: boolean, assignments: readonly Assignment[]): string {
  if (canceled) return 'CANCELED';
  const statuses = assignments.map(({ status }) => status).filter((status) => status !== 'CANCELED');
  if (statuses.length === 0) return 'UNASSIGNED';
  if (statuses.every((status) => status === 'COMPLETED')) return 'COMPLETED';
  if (statuses.some((status) => status === 'IN_PROGRESS' || status === 'PAUSED')) return 'IN_PROGRESS';
  return statuses.some((status) => status === 'EN_ROUTE' || status === 'COMPLETED') ? 'DISPATCHED' : 'ASSIGNED';
}

/** Replaces the assignments of a visit; `assignments` must be in order. */
export function changedVisit(row: VisitRow, assignments: readonly Assignment[]): Visit {
  const { revision: _, job: __, ...own } = visitOf(row, []);
  const revision = createHash('sha256')
    .update(JSON.stringify([own, assignments]))
    .digest('hex');
  return visitOf({ ...row, revision, dispatch_status: dispatchStatusOf(row.canceled, assignments) }, assignments);
}

export function visitOf(row: VisitRow, assignments: readonly Assignment[]) {
  const { id, number, job_id, type, description, window_start_at, window_end_at, confirmed, canceled, cancellation_reason, cancellation_note } = row;
  const { created_by_id, created_by_name, created_at, updated_at, kind, starts_at, ends_at } = row;
  return {
    id,
    number,
    job_id,
    type,
    description,
    window_start_at,
    window_end_at,
    confirmed,
    canceled,
    cancellation_reason,
    cancellation_note,
    created_by: reference(created_by_id, created_by_name),
    created_at,
    updated_at,
    kind,
    starts_at,
    ends_at,
    revision: row.revision,
    job: {
      id: job_id,
      number: row.job_number,
      summary: row.job_summary,
      account: reference(row.account_id, row.account_name),
      location:
        row.location_id === null
          ? null
          : { id: row.location_id, name: row.location_name, address: row.address, latitude: row.latitude, longitude: row.longitude },
      contact: reference(row.contact_id, row.contact_name),
      business_unit: reference(row.business_unit_id, row.business_unit_name),
      job_type: reference(row.job_type_id, row.job_type_name),
      job_class: row.job_class,
    },
    assignments,
    dispatch_status: row.dispatch_status,
  };
}
