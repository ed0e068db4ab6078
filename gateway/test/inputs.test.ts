import { operations, type Field, type Operation, type Parameter, type Range } from '@truckroll/contract';
import { filledFields, inputsOf, isRequired, mostValues } from '../src/routes/inputs.ts';
import { operation } from './support/operation.ts';

/** The inputs by name: what a client gives where. */
function named(of: Operation) {
  const { path, query, headers, body, pages } = inputsOf(of);
  return {
    path: path.map(({ name, field, within }) => `${name} is ${field.name} of the ${within}`),
    query: query.map(({ name }) => name),
    headers: headers.map(({ header, field }) => `${header} is ${field.name}`),
    body: body.map(({ name }) => name),
    pages,
  };
}

test.each<[string, ReturnType<typeof named>]>([
  ['ListJobClasses', { path: [], query: ['limit', 'ids', 'group'], headers: [], body: [], pages: true }],
  ['GetInvoice', { path: ['id is id of the key'], query: [], headers: [], body: [], pages: false }],
  ['GetCompany', { path: [], query: [], headers: [], body: [], pages: false }],
  [
    'AddAssignment',
    {
      path: [],
      query: [],
      headers: ['Idempotency-Key is idempotency_key'],
      body: ['expected_revision', 'appointment_id', 'team_member_id', 'starts_at', 'ends_at', 'allow_outside_window', 'customer_notification'],
      pages: false,
    },
  ],
  [
    'RemoveAssignment',
    {
      path: ['id is id of the request'],
      query: [],
      headers: ['Idempotency-Key is idempotency_key'],
      body: ['expected_revision', 'customer_notification'],
      pages: false,
    },
  ],
  ['GetWebhookDelivery', { path: ['webhookId is webhook_id of the request', 'id is id of the key'], query: [], headers: [], body: [], pages: false }],
  [
    'ListWebhookDeliveries',
    {
      path: ['webhookId is webhook_id of the request'],
      query: ['limit', 'ids', 'createdFrom', 'createdBefore', 'status', 'eventType', 'progress', 'subject'],
      headers: [],
      body: [],
      pages: true,
    },
  ],
])('%s takes %j', (name, expected) => {
  expect(named(operation(name))).toEqual(expected);
});

test('spells path names as the operation spells all keys', () => {
  expect(inputsOf({ ...operation('GetWebhookDelivery'), camelCase: false }).path.map(({ name }) => name)).toEqual(['webhook_id', 'id']);
});

test('reads an idempotency key only from a header, even if the operation has no body', () => {
  const { request, ...rest } = operation('RemoveAssignment');
  const key: Parameter = { name: 'idempotency_key', field: request.byName.get('idempotency_key')!, within: 'request' };
  const limit: Parameter = { ...key, name: 'limit' };
  expect(named({ ...rest, request, parameters: [key, limit], bodyFields: [] })).toMatchObject({
    query: ['limit'],
    headers: ['Idempotency-Key is idempotency_key'],
    body: [],
  });
});

test.each([
  ['ListInvoices', 'collection'],
  ['GetInvoice', 'key'],
  ['AddAssignment', 'caller'],
  ['ListRequests', 'collection', 'caller'],
])('%s has the field %s filled from the credential', (name, ...fields) => {
  expect(filledFields(operation(name)).map((field) => field.name)).toEqual(fields);
});

test('rejects an operation whose request names no company', () => {
  const { request, ...rest } = operation('RemoveAssignment');
  const fields = request.fields.filter(({ name }) => name !== 'caller');
  expect(fields.map(({ name }) => name)).toContain('customer_notification');
  expect(() => filledFields({ ...rest, request: { ...request, fields } })).toThrow('RemoveAssignmentRequest has no Collection, Key or Caller');
});

const parameter = (within: Parameter['within'], field: Partial<Field>): Parameter => ({
  name: 'x',
  within,
  field: { nullable: false, repeated: false, dispensable: false, ...field } as Field,
});

test.each<[string, Parameter['within'], Range | undefined, number | undefined]>([
  ['a hundred ids', 'collection', undefined, 100],
  ['as many ids as the contract says', 'collection', { maxItems: 7 }, 7],
  ['as many values as the contract says', 'request', { maxItems: 7 }, 7],
  ['any number of values', 'request', undefined, undefined],
  ['any number of values with other bounds', 'request', { maxLength: 7 }, undefined],
])('takes %s', (_, within, range, most) => {
  expect(mostValues(parameter(within, range === undefined ? {} : { range }))).toBe(most);
});

test.each<[string, Parameter['within'], Partial<Field>, boolean]>([
  ['a plain parameter', 'request', {}, true],
  ['one of all lists', 'collection', {}, false],
  ['a nullable one', 'request', { nullable: true }, false],
  ['a repeated one', 'request', { repeated: true }, false],
  ['a dispensable one', 'request', { dispensable: true }, false],
  ['one with a default', 'request', { defaults: ['month'] }, false],
])('for %s, returns whether it is required', (_, within, field, required) => {
  expect(isRequired(parameter(within, field))).toBe(required);
});

test('offers CSV for reports only', () => {
  const offering = operations.filter((each) => inputsOf(each).csv).map(({ route }) => route);
  expect(offering).toEqual(operations.map(({ route }) => route).filter((route) => route.startsWith('/v1/reports/')));
  expect(offering.length).toBeGreaterThan(3);
});
