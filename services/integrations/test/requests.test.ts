import { CreatorKind } from '@truckroll/contract/gen/integrations/v1/people';
import { creatorOf, personOf } from '../src/people.ts';
import { callerOf, companyOf } from '../src/requests.ts';

const row = { user_id: 'u', email: 'ana@example.com', first_name: 'Ana', last_name: 'Ruiz', company_id: 'c' };
const person = { id: 'u', display_name: 'Ana Ruiz', email: 'ana@example.com', first_name: 'Ana', last_name: 'Ruiz' };

test('shows a person by id, names and address', () => {
  expect(personOf(row)).toEqual(person);
});

test('shows a creator as a person and whether the user or an operator acted', () => {
  expect(creatorOf(row, CreatorKind.OPERATOR)).toEqual({ ...person, kind: CreatorKind.OPERATOR });
});

test('takes caller and company from the request', () => {
  const caller = { company_id: 'c', time_zone: 'UTC', user_id: 'u' };
  expect(callerOf({ caller })).toBe(caller);
  expect(companyOf({ key: { company_id: 'c', time_zone: 'UTC', id: 'i' } })).toBe('c');
});

test.each([{}, { caller: null, key: null }])('fails internally if the gateway sent %j', (request) => {
  const internal = expect.objectContaining({ status: 500 });
  expect(() => callerOf(request)).toThrow(internal);
  expect(() => companyOf(request)).toThrow(internal);
});
