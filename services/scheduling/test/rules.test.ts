import fc from 'fast-check';
import { DispatchStatus, Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { TeamMemberStatus } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { canBeAssigned, refuseAdding, refuseOutsideWindow, refuseRemoving, refuseStale, technicians, withAssignments } from '../src/visits/rules.ts';

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

test('lets only active, assignable team members be assigned', () => {
  for (const status of Object.values(TeamMemberStatus)) {
    for (const assignable of [true, false]) {
      expect(canBeAssigned({ status, assignable })).toBe(status === TeamMemberStatus.ACTIVE && assignable);
    }
  }
});

test('refuses removal by the assignment’s own status', () => {
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

test('refuses adding a technician already on the visit, and any technician once the visit is canceled', () => {
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

test('refuses times outside the window exactly if they cross a bound and the request does not allow it', () => {
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

const WINDOW = { window_start_at: 10, window_end_at: 20 };

test.each<[number, number, string[]]>([
  [10, 20, []],
  [9, 20, ['starts_at']],
  [21, 22, ['starts_at', 'ends_at']],
  [10, 21, ['ends_at']],
  [8, 9, ['starts_at', 'ends_at']],
  [9, 21, ['starts_at', 'ends_at']],
  [20, 10, []],
])('for a window from 10 to 20, names what is outside of it from %i to %i: %j', (starts_at, ends_at, fields) => {
  const refused = refuseOutsideWindow(WINDOW, { starts_at, ends_at, allow_outside_window: false });
  expect(refused?.details.map(({ location, field, code }) => `${location} ${field} ${code}`) ?? []).toEqual(
    fields.map((field) => `body ${field} OUTSIDE_ARRIVAL_WINDOW`),
  );
  expect(refused?.status).toBe(fields.length === 0 ? undefined : 400);
});

test('counts a technician as on the visit unless their assignment is canceled', () => {
  const one = (member: string, status: AssignmentStatus): Assignment => assignmentOf({ id: member, member, starts_at: 0, status });
  const { TO_DO, COMPLETED, CANCELED } = AssignmentStatus;
  const crew = [one('a', TO_DO), one('b', CANCELED), one('c', COMPLETED), { ...one('d', TO_DO), team_member: null }];
  expect(technicians({ assignments: crew })).toEqual(['a', 'c']);
  const refused = (member: string, canceled = false) => refuseAdding({ canceled, assignments: crew }, member)?.details;
  expect(refused('b')).toBeUndefined();
  expect(refused('c')).toMatchObject([{ location: 'body', field: 'team_member_id', reason: 'ALREADY_ASSIGNED' }]);
  expect(refused('b', true)).toMatchObject([{ location: 'body', field: 'appointment_id', reason: 'VISIT_CANCELED' }]);
});

test('names the assignment in the path when it refuses to remove it, and the revision in the body', () => {
  const details = [{ location: 'path', field: 'id' }];
  const { COMPLETED, PAUSED } = AssignmentStatus;
  expect(refuseRemoving({ status: COMPLETED })).toMatchObject({ status: 409, details, message: expect.stringContaining('completed assignment') });
  expect(refuseRemoving({ status: PAUSED })).toMatchObject({ status: 409, details, message: expect.stringContaining('active assignment') });
  expect(refuseStale({ revision: 'a' }, 'b')?.details).toMatchObject([{ location: 'body', field: 'expected_revision' }]);
});

test('derives order, dispatch status and revision of a visit from its assignments, and keeps its other fields', () => {
  const two = ['b', 'a'].map((id) => assignmentOf({ id, member: id, starts_at: 0, status: AssignmentStatus.EN_ROUTE }));
  const visit = visitOf({ id: 'v', number: '1042-1' });
  const changed = withAssignments(visit, two);
  expect(changed).toMatchObject({ id: 'v', number: '1042-1', dispatch_status: DispatchStatus.DISPATCHED, assignments: [{ id: 'a' }, { id: 'b' }] });
  expect(withAssignments({ ...visit, canceled: true }, two).dispatch_status).toBe(DispatchStatus.CANCELED);
  expect(withAssignments(visit, two.slice(1)).revision).not.toBe(changed.revision);
});

test('restores the same visit after an assignment is added and removed, whatever the order of the others', () => {
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

test('accepts only the visit’s current revision, and returns it otherwise', () => {
  const revision = 'f'.repeat(64);
  expect(refuseStale({ revision }, revision)).toBeUndefined();
  expect(refuseStale({ revision }, '0'.repeat(64))?.details[0]).toMatchObject({ code: 'STALE_REVISION', current_revision: revision });
});
