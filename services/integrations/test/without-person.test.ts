import { shows, withoutPerson, eventWithout } from '../src/webhooks/log/without-person.ts';

const ACCOUNT = '11111111-1111-4111-8111-111111111111';
const CONTACT = '22222222-2222-4222-8222-222222222222';
const COMPANY = '33333333-3333-4333-8333-333333333333';
const account = { kind: 'accounts', id: ACCOUNT };
const contact = { kind: 'contacts', id: CONTACT };

const body = (fields: object = {}): string =>
  JSON.stringify({ sequence: 2, data: { account: { id: ACCOUNT, name: 'Ann' }, contact: { id: CONTACT, name: 'Bob' }, summary: 'Dear Bob', ...fields } });
/** What the body says without the person; undefined if that is the same. */
const without = (text: string, person: { kind: string; id: string }, people?: string): string | undefined =>
  withoutPerson({ body: Buffer.from(text), people }, person)?.toString();
const shown = (text: string | undefined): unknown => JSON.parse(text!).data;

test('replaces the name of the person alone, and keeps the order of the keys', () => {
  expect(without(body(), account)).toBe(body({ account: { id: ACCOUNT, name: 'Erased person' } }));
  expect(without(body(), contact)).toBe(body({ contact: { id: CONTACT, name: 'Erased person' } }));
});

test('replaces the name of a team member who handled an interaction, and not what it said', () => {
  const handled = { direction: 'OUTBOUND', handled_by: { id: CONTACT, name: 'Dana' } };
  const shows = shown(without(body(handled), { kind: 'team-members', id: CONTACT }));
  expect(shows).toMatchObject({ handled_by: { name: 'Erased person' }, contact: { name: 'Bob' }, summary: 'Dear Bob' });
});

test('replaces a text that names a team member without a reference, once', () => {
  const member = { kind: 'team-members', id: COMPANY };
  const sent = without(body({ direction: 'OUTBOUND' }), member, `${CONTACT} ${COMPANY}`);
  expect(shown(sent)).toMatchObject({ account: { name: 'Ann' }, contact: { name: 'Bob' }, summary: 'Erased person' });
  expect(without(sent!, member, COMPANY)).toBeUndefined();
  expect(without(body({ direction: 'OUTBOUND' }), member, CONTACT)).toBeUndefined();
});

test('finds people that a body refers to or names, under whatever name', () => {
  const event = { body: Buffer.from(body({ account: { id: ACCOUNT, name: 'Erased person' } })), people: COMPANY };
  expect(shows(event, account)).toBe(true);
  expect(shows(event, { kind: 'team-members', id: COMPANY })).toBe(true);
  expect(shows(event, { kind: 'team-members', id: CONTACT })).toBe(false);
  expect(shows({ body: null, people: COMPANY }, account)).toBe(false);
});

test.each([
  ['a user', body(), { kind: 'users', id: CONTACT }],
  ['another account', body(), { kind: 'accounts', id: CONTACT }],
  ['another contact', body(), { kind: 'contacts', id: ACCOUNT }],
  ['a body without references', body({ account: null, contact: null }), account],
  ['a body without data', '{"sequence":1}', account],
  ['a body that does not show the person any more', body({ account: { id: ACCOUNT, name: 'Erased person' } }), account],
])('leaves %s as it is', (_, text, person) => {
  expect(without(text, person)).toBeUndefined();
});

test('replaces the text of a message to the person, once', () => {
  const sent = without(body({ direction: 'OUTBOUND' }), contact);
  expect(shown(sent)).toMatchObject({ contact: { name: 'Erased person' }, summary: 'Erased person' });
  expect(without(sent!, contact)).toBeUndefined();
  expect(shown(without(body({ direction: 'INBOUND' }), contact))).toMatchObject({ summary: 'Dear Bob' });
  expect(shown(without(body({ direction: 'OUTBOUND', summary: null }), contact))).toMatchObject({ summary: null });
  const named = { direction: 'OUTBOUND', contact: { id: CONTACT, name: 'Erased person' } };
  expect(shown(without(body(named), contact))).toMatchObject({ summary: 'Erased person' });
  expect(without(body({ ...named, summary: null }), contact)).toBeUndefined();
});

test('changes events of the company that show one of its people, with the customer’s name if that is the account', () => {
  const event = { company_id: COMPANY, body: Buffer.from(body()), customer_name: 'Ann' } as Parameters<typeof eventWithout>[1];
  const of = (person: object) => ({ companyId: COMPANY, ...person }) as Parameters<typeof eventWithout>[0][number];
  const both = eventWithout([of(account), of(contact)], event);
  expect(both).toMatchObject({ company_id: COMPANY, customer_name: 'Erased person' });
  expect(JSON.parse(both.body.toString()).data).toMatchObject({ account: { name: 'Erased person' }, contact: { name: 'Erased person' } });
  expect(eventWithout([of(contact)], event).customer_name).toBe('Ann');
  expect(eventWithout([{ ...of(account), companyId: ACCOUNT }, of({ kind: 'contacts', id: ACCOUNT }), of({ kind: 'accounts', id: COMPANY })], event)).toBe(
    event,
  );
  expect(eventWithout([], event)).toBe(event);
});
