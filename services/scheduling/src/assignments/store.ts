// SQL of the two writes: one statement finds and locks rows, another stores the change with all its consequences. The result equals
// what an import of the same records would derive; a test compares the two.
import { encodeFragment } from '@truckroll/contract';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { appendingText } from '@truckroll/outbox';
import type { Statement, Transaction } from '@truckroll/postgres';
import { valueOf } from '@truckroll/record-store';
import { jobAppointments } from '../resources/job-appointments.ts';
import { jobAssignments } from '../resources/job-assignments.ts';
import { ANSWERING_VALUES, answeringText, trying } from './idempotency.ts';

/** A visit whose row is locked: until the transaction ends, no field of the visit changes. */
export interface HeldVisit {
  visit: Visit;
  document: Buffer;
  sequence: number;
  /** Whether a service request was ever booked for it, whose status then follows its technicians. */
  booked: boolean;
}

export interface ChangedVisit {
  visit: Visit;
  derived: Buffer;
  sequence: number;
}

const HELD = 'v.document, v.derived, v.event_sequence, v.booked';

/** Locks a visit and looks up a team member, who may be missing. Undefined if the visit is missing, or another write holds the key. */
export async function holdVisit(
  tx: Transaction,
  key: string,
  companyId: string,
  visitId: string,
  memberId: string,
): Promise<{ held: HeldVisit; member?: TeamMember } | undefined> {
  const [row] = await tx.queryBinary({
    name: 'hold_visit',
    text: `with ${trying('$4')}
      select ${HELD}, m.document
      from key, job_appointments v left join team_members m on m.company_id = $1 and m.id = $3
      where key.free and v.company_id = $1 and v.id = $2 for no key update of v`,
    values: [companyId, visitId, memberId, key],
  });
  if (row === undefined) return undefined;
  const member = row.at(-1);
  return { held: heldOf(row), ...(member == null ? {} : { member: TeamMember.decode(member) }) };
}

/**
 * Locks the visit of an assignment, and its job, whose other visits decide whether the technician stays on it. Undefined if the
 * assignment is missing, or another write holds the key.
 */
export async function holdVisitOf(tx: Transaction, key: string, companyId: string, assignmentId: string): Promise<HeldVisit | undefined> {
  const [row] = await tx.queryBinary({
    name: 'hold_visit_of_assignment',
    text: `with ${trying('$3')},
      visit as materialized (
        select ${HELD}, v.job_id from key, job_appointments v
        where key.free and v.company_id = $1 and v.id = (select appointment_id from job_assignments where company_id = $1 and id = $2)
        for no key update of v
      ),
      job as materialized (select j.id from visit join jobs j on j.company_id = $1 and j.id = visit.job_id for no key update of j)
      select ${HELD} from visit v left join job on true`,
    values: [companyId, assignmentId, key],
  });
  return row && heldOf(row);
}

function heldOf([document, derived, sequence, booked]: readonly (Buffer | null)[]): HeldVisit {
  const { revision, job, assignments, dispatch_status } = Visit.decode(derived as Buffer);
  const visit = { ...Visit.decode(document as Buffer), revision, job, assignments, dispatch_status };
  return { visit, document: document as Buffer, sequence: Number((sequence as Buffer).readBigInt64BE()), booked: booked?.[0] === 1 };
}

export function changeOf({ sequence }: HeldVisit, visit: Visit): ChangedVisit {
  const { revision, job, assignments, dispatch_status } = visit;
  const derived = encodeFragment(Visit, { revision, job, assignments, dispatch_status });
  return { visit, derived: Buffer.from(derived.buffer, derived.byteOffset, derived.byteLength), sequence: sequence + 1 };
}

const ASSIGNMENT_COLUMNS = jobAssignments.columns.filter(({ of }) => of !== undefined);
const dispatchStatus = jobAppointments.columns.find(({ name }) => name === 'dispatch_status')?.of as (visit: Visit) => unknown;
const VISIT = `update job_appointments set derived = $3, dispatch_status = $4, event_sequence = $5 where company_id = $1 and id = $2`;
const visitValues = (companyId: string, { visit, derived, sequence }: ChangedVisit): unknown[] => [
  companyId,
  visit.id,
  derived,
  dispatchStatus(visit),
  sequence,
];

/** A statement that stores a change with its answer and its events, whose values follow in this order. */
export type Storing = Required<Pick<Statement, 'name' | 'text'>>;

/** One statement costs half as much as three. `change` has `parameters` values. */
function storing(name: string, change: string, parameters: number): Storing {
  const text = `with ${change},
  answered as (${answeringText(parameters + 1)}),
  appended as (${appendingText(parameters + 1 + ANSWERING_VALUES)})
  select`;
  return { name, text };
}

const ADD = `visit as (${VISIT} returning created_at),
  added as (
    insert into job_assignments (company_id, projection, ${ASSIGNMENT_COLUMNS.map(({ name }) => name).join(', ')}, document)
    values ($1, ${jobAssignments.version}, ${ASSIGNMENT_COLUMNS.map((_, i) => `$${i + 9}`).join(', ')}, $8)
  ),
  visit_team as (
    insert into job_appointment_team_members (company_id, value, created_at, id) select $1, $6, created_at, $2 from visit
    on conflict do nothing
  ),
  job as materialized (select created_at from jobs where company_id = $1 and id = $7 for no key update),
  job_team as (
    insert into job_team_members (company_id, value, created_at, id) select $1, $6, created_at, $7 from job on conflict do nothing
  )`;

export const ADDING = storing('add_assignment', ADD, 8 + ASSIGNMENT_COLUMNS.length);

export function addingValues(companyId: string, changed: ChangedVisit, assignment: Assignment, document: Uint8Array): unknown[] {
  const columns = ASSIGNMENT_COLUMNS.map((column) => valueOf(column, assignment));
  return [...visitValues(companyId, changed), assignment.team_member?.id, changed.visit.job_id, Buffer.from(document), ...columns];
}

const REMOVE = `visit as (${VISIT}),
  removed as (delete from job_assignments where company_id = $1 and id = $6),
  visit_team as (delete from job_appointment_team_members where company_id = $1 and id = $2 and value = $7 and not $9),
  job_team as (
    delete from job_team_members l where l.company_id = $1 and l.id = $8 and l.value = $7 and not $9 and not exists (
      select from job_appointments v
        join job_appointment_team_members t on t.company_id = $1 and t.value = $7 and t.created_at = v.created_at and t.id = v.id
      where v.company_id = $1 and v.job_id = $8 and v.id <> $2)
  )`;

export const REMOVING = storing('remove_assignment', REMOVE, 9);

export function removingValues(companyId: string, changed: ChangedVisit, { id, team_member }: Assignment): unknown[] {
  const { assignments, job_id } = changed.visit;
  // An imported visit may have the same team member twice.
  const stays = assignments.some((other) => other.team_member?.id === team_member?.id);
  return [...visitValues(companyId, changed), id, team_member?.id, job_id, stays];
}
