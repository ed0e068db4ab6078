import fc from 'fast-check';
import { DispatchStatus, Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { dispatchStatusOf, inOrder, revisionOf } from '../src/visits/visit.ts';

const { TO_DO, EN_ROUTE, IN_PROGRESS, PAUSED, COMPLETED, CANCELED } = AssignmentStatus;
const statuses = [TO_DO, EN_ROUTE, IN_PROGRESS, PAUSED, COMPLETED, CANCELED] as const;

test.each([
  [[], DispatchStatus.UNASSIGNED],
  [[CANCELED, CANCELED], DispatchStatus.UNASSIGNED],
  [[TO_DO, TO_DO], DispatchStatus.ASSIGNED],
  [[TO_DO, EN_ROUTE], DispatchStatus.DISPATCHED],
  [[TO_DO, COMPLETED], DispatchStatus.DISPATCHED],
  [[EN_ROUTE, COMPLETED, PAUSED], DispatchStatus.IN_PROGRESS],
  [[IN_PROGRESS], DispatchStatus.IN_PROGRESS],
  [[COMPLETED, CANCELED, COMPLETED], DispatchStatus.COMPLETED],
] as const)('assignments %j make a visit %s', (of, expected) => {
  expect(
    dispatchStatusOf(
      false,
      of.map((status) => ({ status })),
    ),
  ).toBe(expected);
  expect(
    dispatchStatusOf(
      true,
      of.map((status) => ({ status })),
    ),
  ).toBe(DispatchStatus.CANCELED);
});

test('derives the same dispatch status for any order of assignments, ignoring canceled ones', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...statuses)), fc.nat(), (given, at) => {
      const of = given.map((status) => ({ status }));
      const status = dispatchStatusOf(false, of);
      expect(dispatchStatusOf(false, of.toReversed())).toBe(status);
      expect(dispatchStatusOf(false, of.toSpliced(at % (of.length + 1), 0, { status: CANCELED }))).toBe(status);
    }),
  );
});

const instant = fc.integer({ min: 0, max: 4_000_000_000_000_000 });
const name = fc.string({ maxLength: 8 });
const reference = fc.record({ id: fc.uuid(), name });
const assignment: fc.Arbitrary<Assignment> = fc.record({
  id: fc.uuid(),
  job_id: fc.uuid(),
  appointment_id: fc.uuid(),
  team_member: reference,
  starts_at: fc.integer({ min: 0, max: 3 }),
  ends_at: instant,
  status: fc.constantFrom(...statuses),
  status_updated_at: instant,
  created_at: instant,
  updated_at: fc.option(instant),
});
const visit: fc.Arbitrary<Visit> = fc
  .record({
    id: fc.uuid(),
    number: name,
    job_id: fc.uuid(),
    type: name,
    description: name,
    window_start_at: instant,
    window_end_at: instant,
    confirmed: fc.boolean(),
    canceled: fc.boolean(),
    cancellation_reason: fc.option(name),
    cancellation_note: fc.option(name),
    created_by: reference,
    created_at: instant,
    updated_at: instant,
    kind: name,
    starts_at: instant,
    ends_at: instant,
  })
  .map((own) => ({ ...Visit.decode(new Uint8Array()), ...own }));
const crew = fc.uniqueArray(assignment, { selector: ({ id }) => id, maxLength: 5 });

test('computes a revision of 64 lowercase hexadecimal characters, the same for the same facts in any order and after encoding', () => {
  fc.assert(
    fc.property(visit, crew, (of, assignments) => {
      const revision = revisionOf(of, assignments);
      expect(revision).toMatch(/^[0-9a-f]{64}$/);
      const copies = assignments.map((each) => Assignment.decode(Assignment.encode(each).finish()));
      expect(revisionOf(Visit.decode(Visit.encode(of).finish()), copies.toReversed())).toBe(revision);
    }),
  );
});

const own = [
  'id',
  'number',
  'job_id',
  'type',
  'description',
  'window_start_at',
  'window_end_at',
  'confirmed',
  'canceled',
  'cancellation_reason',
  'cancellation_note',
  'created_at',
  'updated_at',
  'kind',
  'starts_at',
  'ends_at',
] as const;
const theirs = ['id', 'job_id', 'appointment_id', 'starts_at', 'ends_at', 'status', 'status_updated_at', 'created_at', 'updated_at'] as const;

test('changes the revision with every recorded column of the visit and of its assignments', () => {
  fc.assert(
    fc.property(visit, visit, crew, assignment, fc.nat(), (of, other, assignments, another, at) => {
      const revision = revisionOf(of, assignments);
      for (const column of own) {
        if (of[column] !== other[column]) expect([column, revisionOf({ ...of, [column]: other[column] }, assignments)]).not.toEqual([column, revision]);
      }
      expect(revisionOf({ ...of, created_by: other.created_by }, assignments)).not.toBe(revision);
      expect(revisionOf(of, [...assignments, another])).not.toBe(revision);
      const index = at % Math.max(1, assignments.length);
      const one = assignments[index];
      if (one === undefined) return;
      for (const column of theirs) {
        const changed = assignments.with(index, { ...one, [column]: another[column] });
        if (one[column] !== another[column]) expect([column, revisionOf(of, changed)]).not.toEqual([column, revision]);
      }
      expect(revisionOf(of, assignments.with(index, { ...one, team_member: another.team_member }))).not.toBe(revision);
    }),
  );
});

test('ignores names, the job and derived fields in the revision', () => {
  fc.assert(
    fc.property(visit, crew, name, (of, assignments, renamed) => {
      const job = { id: of.job_id, number: renamed, account: null, location: null };
      const again = { ...of, job, dispatch_status: DispatchStatus.COMPLETED, revision: renamed, assignments, created_by: { ...of.created_by!, name: renamed } };
      const people = assignments.map((each) => ({ ...each, team_member: { ...each.team_member!, name: renamed } }));
      expect(revisionOf(again, people)).toBe(revisionOf(of, assignments));
    }),
  );
});

test('orders assignments by start, then by id', () => {
  fc.assert(
    fc.property(crew, (assignments) => {
      const sorted = inOrder(assignments);
      for (const [i, each] of sorted.entries()) {
        const next = sorted[i + 1];
        if (next !== undefined) expect(each.starts_at < next.starts_at || (each.starts_at === next.starts_at && each.id < next.id)).toBe(true);
      }
    }),
  );
});

test('computes a revision without a creator and without a technician, which differs from that with them', () => {
  fc.assert(
    fc.property(visit, assignment, (of, one) => {
      const bare = [{ ...one, team_member: null }];
      const without = { ...of, created_by: null };
      const revisions = [revisionOf(of, [one]), revisionOf(without, [one]), revisionOf(of, bare), revisionOf(without, bare)];
      expect(new Set(revisions).size).toBe(4);
    }),
  );
});
