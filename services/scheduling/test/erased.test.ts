import { erased, knownBy } from '../src/people/erased.ts';

const AT = 1_772_000_000_000_000;
const account = {
  id: 'a',
  name: 'Ann',
  company_name: 'Ann LLC',
  phone: '+15125550142',
  email: 'ann@example.com',
  billing_address: { city: 'Austin' },
  archived: true,
  updated_at: 1,
};
const contact = {
  id: 'c',
  name: 'Bob',
  first_name: 'Bob',
  last_name: 'Lee',
  title: 'Owner',
  primary_channel: {},
  channels: [{ value: 'bob@example.com' }],
  is_primary: true,
  updated_at: 1,
};

const teamMember = {
  id: 't',
  name: 'Dana Whitfield',
  first_name: 'Dana',
  last_name: 'Whitfield',
  email: 'dana@example.com',
  phone: '+15125550143',
  title: 'Lead HVAC technician',
  role: 'TECHNICIAN',
  status: 'TEAM_MEMBER_STATUS_ACTIVE',
  assignable: true,
  color: '#aabbcc',
  updated_at: 1,
};

test('keeps of an account what is not of the person', () => {
  const without = { id: 'a', name: 'Erased person', company_name: null, phone: null, email: null, billing_address: null, archived: true, updated_at: AT };
  expect(erased(account, 'accounts', AT)).toEqual(without);
});

test('keeps of a contact what is not of the person', () => {
  const names = { name: 'Erased person', first_name: null, last_name: null, title: null };
  expect(erased(contact, 'contacts', AT)).toEqual({ id: 'c', ...names, primary_channel: null, channels: [], is_primary: true, updated_at: AT });
});

test('a team member works for the company no more', () => {
  const names = { name: 'Erased person', first_name: 'Erased', last_name: 'person', email: null, phone: null, title: null };
  const left = { id: 't', role: 'TECHNICIAN', color: '#aabbcc', status: 'TEAM_MEMBER_STATUS_INACTIVE', assignable: false, updated_at: AT };
  expect(erased(teamMember, 'team-members', AT)).toEqual({ ...names, ...left });
});

test('changes nothing the second time, also where the record lacks fields', () => {
  expect(erased(erased(account, 'accounts', AT)!, 'accounts', AT + 1)).toBeUndefined();
  expect(erased(erased(contact, 'contacts', AT)!, 'contacts', AT + 1)).toBeUndefined();
  expect(erased(erased(teamMember, 'team-members', AT)!, 'team-members', AT + 1)).toBeUndefined();
  expect(erased({ name: 'Erased person', phone: undefined, updated_at: 1 }, 'accounts', AT)).toBeUndefined();
});

test.each(['phone', 'email', 'company_name', 'billing_address'])('finds a record that has only %s left', (field) => {
  expect(erased({ name: 'Erased person', [field]: 'something', updated_at: 1 }, 'accounts', AT)).toMatchObject({ [field]: null });
});

test('knows a person by name, by first and last name together, and by numbers and addresses, each once', () => {
  const channels = [{ value: '+15125550142' }, { value: 'bob@example.com' }, { value: '+15125550142' }];
  expect(knownBy({ ...contact, name: 'Bob Lee, Austin', channels })).toEqual(['Bob Lee, Austin', 'Bob Lee', '+15125550142', 'bob@example.com']);
  expect(knownBy({ ...contact, last_name: null })).toEqual(['Bob', 'bob@example.com']);
  expect(knownBy(account)).toEqual(['Ann', 'Ann LLC', '+15125550142', 'ann@example.com']);
});

test.each([
  [account, 'accounts'],
  [contact, 'contacts'],
  [teamMember, 'team-members'],
] as const)('knows nothing of an erased person', (record, kind) => {
  expect(knownBy(erased(record, kind, AT)!)).toEqual([]);
});
