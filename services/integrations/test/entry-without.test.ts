import { entryWithout } from '../src/audit/without-person.ts';

const ID = '11111111-1111-4111-8111-111111111111';

test('replaces what an entry shows of a user, wherever it does', () => {
  const user = { id: ID, subject: 's', email: 'ann@example.com', firstName: 'Ann', lastName: 'Lee', active: false };
  const creator = { kind: 'USER', id: ID, displayName: 'Ann Lee', email: null, firstName: 'Ann', lastName: 'Lee' };
  const names = { firstName: 'Erased', lastName: 'person' };
  const without = JSON.parse(entryWithout(JSON.stringify({ name: 'all', list: [{ createdBy: creator }], user }), ID));
  expect(without).toEqual({
    name: 'all',
    list: [{ createdBy: { kind: 'USER', id: ID, displayName: 'Erased person', email: null, ...names } }],
    user: { id: ID, subject: `erased ${ID}`, email: `${ID}@erased.invalid`, ...names, active: false },
  });
  expect(entryWithout(JSON.stringify(without), ID)).toBe(JSON.stringify(without));
});

test('replaces the name in a reference to a team member', () => {
  expect(entryWithout(JSON.stringify({ name: 'Dana', team_member: { id: ID, name: 'Dana' } }), ID)).toBe(
    JSON.stringify({ name: 'Dana', team_member: { id: ID, name: 'Erased person' } }),
  );
});

test('replaces the address where an entry lists it alone, and no other that contains it', () => {
  const entry = (...alertEmails: string[]): string => JSON.stringify({ alertEmails });
  expect(entryWithout(entry('joann@example.com', 'ann@example.com'), ID, 'ann@example.com')).toBe(entry('joann@example.com', `${ID}@erased.invalid`));
  expect(entryWithout(entry('joann@example.com'), ID, 'ann@example.com')).toBe(entry('joann@example.com'));
});

test('keeps the address of another user', () => {
  const entry = JSON.stringify({ user: { id: ID.replace('1', '2'), email: 'ann@example.com' } });
  expect(entryWithout(entry, ID, 'ann@example.com')).toBe(entry);
});

test.each([null, undefined, '{"a": 1}', `{"userId": "${ID}", "name":  "Ann"}`])('does not change %s', (entry) => {
  expect(entryWithout(entry, ID)).toBe(entry);
});
