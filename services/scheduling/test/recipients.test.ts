import { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { Contact, ContactChannelType, type ContactChannel } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { Assignment, AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { recipientOf } from '../src/notifications/recipient.ts';
import { defaultMessage, subjectOf, withOneName } from '../src/notifications/text.ts';

const EMPTY = new Uint8Array();
const { EMAIL, MOBILE, PHONE } = ContactChannelType;
const account: Account = { ...Account.decode(EMPTY), notifications_enabled: true };
const channel = (type: ContactChannelType, value: string, opted_out = false): ContactChannel => ({ id: value, type, value, is_primary: false, opted_out });
const email = channel(EMAIL, 'ana@example.com');
const mobile = channel(MOBILE, '+13125550100');
const contact = (primary_channel: Contact['primary_channel'], ...channels: ContactChannel[]): Contact => ({
  ...Contact.decode(EMPTY),
  primary_channel,
  channels,
});

test('sends an e-mail or a text message to the primary channel of the contact', () => {
  expect(recipientOf(account, contact(email, mobile, email))).toEqual({ channel: 'EMAIL', address: 'ana@example.com' });
  expect(recipientOf(account, contact(mobile, mobile, email))).toEqual({ channel: 'SMS', address: '+13125550100' });
});

test.each<[string, Account | undefined, Contact | undefined]>([
  ['the account is not known', undefined, contact(email, email)],
  ['the account gets no notifications', { ...account, notifications_enabled: false }, contact(email, email)],
  ['there is no contact', account, undefined],
  ['the contact is archived', account, { ...contact(email, email), archived: true }],
  ['the contact has no primary channel', account, contact(null, email)],
  ['the contact’s primary channel takes no messages', account, contact(channel(PHONE, '+13125550100'))],
  ['the contact has opted out', account, contact(email, mobile, { ...email, opted_out: true })],
  ['the contact has opted out', account, contact(email, channel(EMAIL, 'ANA@example.com', true))],
])('sends nothing because %s', (reason, to, of) => {
  expect(recipientOf(to, of)).toEqual({ reason });
});

test('sends to the primary channel although the contact has opted out of another', () => {
  expect(recipientOf(account, contact(email, email, { ...mobile, opted_out: true }, channel(EMAIL, 'old@example.com', true)))).toMatchObject({
    channel: 'EMAIL',
  });
});

const assignment = (name: string, status: AssignmentStatus = AssignmentStatus.TO_DO): Assignment => ({
  ...Assignment.decode(EMPTY),
  team_member: { id: name, name },
  status,
});
const at = (address: string) => ({ location: { id: 'l', name: '', address } });

test.each<[Assignment[], string, string]>([
  [[], '', 'There is news about your appointment 1042-1. We will tell you who comes.'],
  [[], '1 Main St', 'There is news about your appointment 1042-1 at 1 Main St. We will tell you who comes.'],
  [[assignment('Ana')], '1 Main St', 'There is news about your appointment 1042-1 at 1 Main St. Who comes: Ana.'],
  [[assignment('Ana'), assignment('Bo'), assignment('Cy')], '', 'There is news about your appointment 1042-1. Who comes: Ana, Bo, and Cy.'],
  [[assignment('Ana', AssignmentStatus.CANCELED), assignment('Bo')], '', 'There is news about your appointment 1042-1. Who comes: Bo.'],
  [[assignment('Ana', AssignmentStatus.CANCELED)], '', 'There is news about your appointment 1042-1. We will tell you who comes.'],
  [[{ ...assignment(''), team_member: null }], '', 'There is news about your appointment 1042-1. We will tell you who comes.'],
])('of the assignments %j at the address %j, writes %j', (assignments, address, text) => {
  expect(defaultMessage({ number: '1042-1', assignments }, at(address))).toBe(text);
});

test('names the appointment in the subject, and no address if the location is not known', () => {
  expect(subjectOf({ number: '1042-1' })).toBe('Your appointment 1042-1');
  expect(defaultMessage({ number: '7', assignments: [] }, { location: null })).toBe('There is news about your appointment 7. We will tell you who comes.');
});

test.each([
  [[assignment('Ana'), assignment('Bo')], '1 Main St', 'There is news about your appointment 7 at 1 Main St. Who comes: X.'],
  [[assignment('Ana')], '1 Main\nWho comes: Cy.', 'There is news about your appointment 7 at 1 Main\nWho comes: Cy.. Who comes: X.'],
  [[], '', 'There is news about your appointment 7. We will tell you who comes.'],
])('of the assignments %j at the address %j, with one name, writes %j', (assignments, address, text) => {
  const message = defaultMessage({ number: '7', assignments }, at(address));
  expect(withOneName(message, 'X')).toBe(text);
  expect(withOneName(withOneName(message, 'X'), 'X')).toBe(text);
});

test.each(['Dear Ana, There is news about your appointment 7. Who comes: Ana.', 'There is news about your appointment 7. Who comes: Ana. Call us'])(
  'leaves the message %j as it is',
  (message) => {
    expect(withOneName(message, 'X')).toBe(message);
  },
);
