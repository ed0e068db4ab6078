// Rules of the two writes (decisions §5).
import fc from 'fast-check';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { TeamMemberStatus } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { canBeAssigned, refuseAdding, refuseOutsideWindow, refuseRemoving, refuseStale, technicians, withAssignments } from '../src/assignments/rules.ts';

const EMPTY = new Uint8Array();
const statuses = Object.values(AssignmentStatus).filter((status) => !/UNSPECIFIED|UNRECOGNIZED/.test(status));
const assignments = fc.uniqueArray(
  fc.record({ id: fc.uuid(), member: fc.uuid(), starts_at: fc.integer({ min: 0, max: 50 }), status: fc.constantFrom(...statuses) }),
  { selector: ({ id }) => id, maxLength: 6 },
);
const assignmentOf = ({ id, member, starts_at, status }: { id: string; member: string; starts_at: number; status: AssignmentStatus }): Assignment => ({
  ...Assignment.decode(EMPTY),
  id,
  team_member: { id: member, name: '' },
  starts_at,
  status,
});
const visitOf = (fields: Partial<Visit>): Visit => ({ ...Visit.decode(EMPTY), ...fields });

it('lets only active, assignable team members be assigned', () => {
  for (const status of Object.values(TeamMemberStatus)) {
    for (const assignable of [true, false]) {
      expect(canBeAssigned({ status, assignable })).toBe(status === TeamMemberStatus.ACTIVE && assignable);
    }
  }
});

it('refuses removal by the assignment’s own status', () => {
  const reasons = Object.fromEntries(statuses.map((status) => [status, refuseRemoving({ status })?.details[0]?.reason]));
  expect(reasons).toEqual({
    [AssignmentStatus.TO_DO]: undefined,
    [AssignmentStatus.EN_ROUTE]: 'ACTIVE',
    [AssignmentStatus.IN_PROGRESS]: 'ACTIVE',
    [AssignmentStatus.PAUSED]: 'ACTIVE',
    [AssignmentStatus.COMPLETED]: 'COMPLETED',
    [AssignmentStatus.CANCELED]: undefined,
  });
});

it('refuses adding a technician already on the visit, and any technician once the visit is canceled', () => {
  fc.assert(
    fc.property(assignments, fc.boolean(), fc.uuid(), (list, canceled, stranger) => {
      const visit = visitOf({ canceled, assignments: list.map(assignmentOf) });
      for (const member of [stranger, ...list.map((one) => one.member)]) {
        const expected = canceled ? 'VISIT_CANCELED' : technicians(visit).includes(member) ? 'ALREADY_ASSIGNED' : undefined;
        expect(refuseAdding(visit, member)?.details[0]?.reason).toBe(expected);
      }
    }),
  );
});

it('refuses times outside the window exactly if they cross a bound and the request does not allow it', () => {
  const instant = fc.integer({ min: 0, max: 20 });
  fc.assert(
    fc.property(instant, instant, instant, instant, fc.boolean(), (window_start_at, window_end_at, starts_at, length, allow_outside_window) => {
      const ends_at = starts_at + length + 1;
      const inside = window_start_at <= starts_at && ends_at <= window_end_at;
      const refused = refuseOutsideWindow({ window_start_at, window_end_at }, { starts_at, ends_at, allow_outside_window });
      expect(refused === undefined).toBe(inside || allow_outside_window);
    }),
  );
});

it('restores the same visit after an assignment is added and removed, whatever the order of the others', () => {
  fc.assert(
    fc.property(assignments, fc.nat(), (list, seed) => {
      const all = list.map(assignmentOf);
      const shuffled = all.toSorted((a, b) => (a.id + seed < b.id + seed ? -1 : 1)).toReversed();
      const visit = withAssignments(visitOf({ id: 'v' }), all);
      expect(withAssignments(visitOf({ id: 'v' }), shuffled)).toEqual(visit);
      const [one] = all;
      if (one === undefined) return;
      const without = withAssignments(
        visit,
        visit.assignments.filter(({ id }) => id !== one.id),
      );
      expect(without.revision).not.toBe(visit.revision);
      expect(withAssignments(without, [...without.assignments, one])).toEqual(visit);
    }),
  );
});

it('accepts only the visit’s current revision, and returns it otherwise', () => {
  const revision = 'f'.repeat(64);
  expect(refuseStale({ revision }, revision)).toBeUndefined();
  expect(refuseStale({ revision }, '0'.repeat(64))?.details[0]).toMatchObject({ code: 'STALE_REVISION', current_revision: revision });
});
