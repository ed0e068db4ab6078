// Erasing a user removes the address from entries of the audit trail (docs/adr/0024).
import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '@truckroll/postgres';
import { openFreshDatabase, whileOpen } from '@truckroll/testing';
import { trail } from '../src/audit/erase-person.ts';
import { audit } from '../src/audit/store.ts';
import { schema } from '../src/schema.ts';

const EMAIL = 'ana@example.com';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

async function addCompany(): Promise<string> {
  const id = randomUUID();
  const text = `insert into companies (id, name, timezone, costing_enabled, verified_only) values ($1, 'x', 'UTC', true, false)`;
  await database.query({ text, values: [id] });
  return id;
}

async function addUser(company: string, email: string): Promise<string> {
  const id = randomUUID();
  const text = `insert into users (id, company_id, subject, email, first_name, last_name, active) values ($1::uuid, $2, $1::text, $3, 'Ana', 'Ruiz', false)`;
  await database.query({ text, values: [id, company, email] });
  return id;
}

/** An entry of another user. Resolves to a function that reads what it shows. */
async function addEntry(company: string, shown: object): Promise<() => Promise<unknown>> {
  const id = randomUUID();
  await database.query({
    text: `insert into audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, after)
      values ($1, now(), $2, 'USER', $3, 'Bo Li', 'webhook.created', 'webhooks', $3, $4)`,
    values: [company, id, randomUUID(), JSON.stringify(shown)],
  });
  return async () => {
    const { rows } = await database.query<{ after: string }>({
      text: 'select after from audit_events where company_id = $1 and id = $2',
      values: [company, id],
    });
    return JSON.parse(rows[0]!.after);
  };
}

async function mark(company: string, user: string): Promise<void> {
  await database.query({ text: `insert into erased_people (company_id, kind, id) values ($1, 'users', $2)`, values: [company, user] });
}

/** One page, which holds all entries. Resolves to the number of changed ones. */
async function look(tx: Transaction, company: string, user: string): Promise<number> {
  return (await trail.next(tx, { companyId: company, kind: 'users', id: user }, null)).changed;
}

async function erase(company: string, user: string): Promise<number> {
  await mark(company, user);
  return await database.transaction((tx) => look(tx, company, user));
}

test('erases the address in entries of others, also of companies that the user has left, unless another user there has it', async () => {
  const [own, left, others] = [await addCompany(), await addCompany(), await addCompany()];
  const user = await addUser(own, EMAIL);
  await addUser(others, EMAIL.toUpperCase());
  const shown = { alertEmails: [EMAIL, 'joana@example.com'] };
  const [here, there, kept] = [await addEntry(own, shown), await addEntry(left, shown), await addEntry(others, shown)];
  expect(await erase(own, user)).toBe(2);
  const erased = { alertEmails: [`${user}@erased.invalid`, 'joana@example.com'] };
  expect([await here(), await there(), await kept()]).toEqual([erased, erased, shown]);
});

test('erases a user’s address from both companies if the user moved after the request', async () => {
  const [left, now] = [await addCompany(), await addCompany()];
  const user = await addUser(now, 'finn@example.com');
  const shown = { alertEmails: ['finn@example.com'] };
  const entries = [await addEntry(left, shown), await addEntry(now, shown)];
  expect(await erase(left, user)).toBe(2);
  for (const entry of entries) expect(await entry()).toEqual({ alertEmails: [`${user}@erased.invalid`] });
});

test('erases two people from one entry at once', async () => {
  const company = await addCompany();
  const [one, other] = [await addUser(company, 'gil@example.com'), await addUser(company, 'hana@example.com')];
  for (const user of [one, other]) await mark(company, user);
  const shown = (name: string) => ({ makers: [one, other].map((id) => ({ id, displayName: name })) });
  const entry = await addEntry(company, shown('Ana Ruiz'));
  await whileOpen(
    database,
    (tx) => look(tx, company, one),
    () => database.transaction((tx) => look(tx, company, other)),
  );
  expect(await entry()).toEqual(shown('Erased person'));
});

test('changes no entry for a user without an address', async () => {
  const company = await addCompany();
  const user = await addUser(company, '');
  const shown = { name: '', filter: '' };
  const entry = await addEntry(company, shown);
  expect(await erase(company, user)).toBe(0);
  expect(await entry()).toEqual(shown);
});

test.each([
  ['in the user’s company', { erased: 0, stored: 0 }],
  ['in a company that the user has left', { erased: 0, stored: 1 }],
  ['of a user who was erased in another company', { erased: 1, stored: 0 }],
])('stores what follows under the name of an erased person, %s', async (_, { erased, stored }) => {
  const companies = [await addCompany(), await addCompany()];
  const user = await addUser(companies[0]!, 'cleo@example.com');
  await mark(companies[erased]!, user);
  const company = companies[stored]!;
  const shown = { createdBy: { id: user, displayName: 'Ana Ruiz' } };
  const caller = { company_id: company, user_id: user, time_zone: 'UTC', key_id: null };
  const change = { companyId: company, caller, action: 'view.saved', object: { kind: 'views', id: 'x' }, after: JSON.stringify(shown) };
  await database.transaction((tx) => audit(tx, change as Parameters<typeof audit>[1]));
  const { rows } = await database.query({ text: 'select actor_name, after from audit_events where company_id = $1', values: [company] });
  const after = JSON.stringify({ createdBy: { id: user, displayName: 'Erased person' } });
  expect(rows).toEqual([{ actor_name: 'Erased person', after }]);
});

test('lets no entry change that has neither the id nor the address of a person who is being erased', async () => {
  const company = await addCompany();
  const user = await addUser(company, 'bea@example.com');
  await addEntry(company, { name: 'x' });
  await erase(company, user);
  await erase(company, await addUser(company, ''));
  const change = database.query({ text: `update audit_events set after = '{}' where company_id = $1`, values: [company] });
  await expect(change).rejects.toThrow('42501');
});
