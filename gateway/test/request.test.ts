import { codec, operations, type ErrorDetail, type Field } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { filledFields, inputsOf, type Inputs } from '../src/routes/inputs.ts';
import { compileQuery } from '../src/routes/query.ts';
import { bodyShape, compileRequest, mayBeLeftOut, readHeaders, readJson, readPath, refuseFields, type RequestParts } from '../src/routes/request.ts';
import { operation } from './support/operation.ts';

const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const OTHER = '1c8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const COMPANY = '2d8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const principal = { company_id: COMPANY, time_zone: 'America/Denver', user_id: 'user', key_id: 'key' } as Principal;

/** The message that the owner receives. */
function sent(name: string, parts: Partial<RequestParts> & { text?: string } = {}): Record<string, unknown> {
  const of = operation(name);
  const inputs = inputsOf(of);
  const { text = '', ...rest } = parts;
  const query = compileQuery(inputs)(text);
  expect(query.problems).toEqual([]);
  const encode = compileRequest(of, inputs);
  const bytes = encode({ principal, address: '192.0.2.7', path: [], query, after: undefined, headers: new Map(), body: {}, ...rest });
  return codec(of.request.typeName).decode(bytes) as Record<string, unknown>;
}

describe('a request', () => {
  test('to a service is for the company of the credential in every operation, whatever else it holds', () => {
    // The gateway composes the answers of the change feed and the summary itself.
    for (const { name, kind, pathFields, request } of operations.filter(({ service }) => !/\.(Changes|Summary)Service$/.test(service))) {
      const filled = filledFields(operation(name))[0]!.name;
      const text = kind === 'report' && request.byName.has('start_date') ? 'start_date=2026-01-01&end_date=2026-02-01' : '';
      const values = pathFields.map(() => ID);
      const body = { ...(codec(request.typeName).decode(new Uint8Array()) as object), [filled]: { company_id: OTHER } };
      expect([name, sent(name, { text, path: values, body })[filled]]).toMatchObject([name, { company_id: COMPANY, time_zone: 'America/Denver' }]);
    }
  });

  test('for a list has its limit, position and filters', () => {
    const text = `limit=7&ids=${ID}&created_from=1970-01-01T00:00:01Z&status=PAID&status=OPEN`;
    expect(sent('ListInvoices', { text, after: Buffer.from('position') })).toMatchObject({
      collection: { company_id: COMPANY, limit: 7, after: Buffer.from('position'), ids: [ID], created_from: 1_000_000, created_before: null },
      status: ['INVOICE_STATUS_OPEN', 'INVOICE_STATUS_PAID'],
      account_id: [],
    });
  });

  test('for the first page of a list has 50 as its limit, and no position', () => {
    expect(sent('ListInvoices')).toMatchObject({ collection: { limit: 50, after: new Uint8Array(), ids: [] }, status: [] });
  });

  test('for a record has its id in the key', () => {
    expect(sent('GetInvoice', { path: [ID] })).toEqual({ key: { company_id: COMPANY, time_zone: 'America/Denver', id: ID } });
  });

  test('for a record of a record has each value of the path in its place', () => {
    expect(sent('GetWebhookDelivery', { path: [ID, OTHER] })).toMatchObject({ webhook_id: ID, key: { company_id: COMPANY, id: OTHER } });
  });

  test('for a change names the user, the key and the address, and has the values of body, header and path', () => {
    const key = operation('RemoveAssignment').request.byName.get('idempotency_key') as Field;
    const body = { expected_revision: 'ab', idempotency_key: 'of the body', id: 'of the body' };
    expect(sent('RemoveAssignment', { path: [ID], headers: new Map([[key, 'key-12345']]), body })).toEqual({
      caller: { company_id: COMPANY, time_zone: 'America/Denver', user_id: 'user', key_id: 'key', address: '192.0.2.7' },
      id: ID,
      idempotency_key: 'key-12345',
      expected_revision: 'ab',
      customer_notification: null,
    });
  });

  test('for a change of a user has no key', () => {
    expect(sent('DeleteApiKey', { path: [ID], principal: { ...principal, key_id: null }, address: undefined })).toEqual({
      caller: { company_id: COMPANY, time_zone: 'America/Denver', user_id: 'user', key_id: null, address: null },
      id: ID,
    });
  });

  test('gets no values of the previous request', () => {
    const of = operation('ListInvoices');
    const inputs = inputsOf(of);
    const [encode, parse] = [compileRequest(of, inputs), compileQuery(inputs)];
    const bytes = (text: string, after?: Buffer) =>
      encode({ principal, address: undefined, path: [], query: parse(text), after, headers: new Map(), body: {} });
    bytes(`ids=${ID}&status=OPEN&limit=3`, Buffer.from('position'));
    const second = codec(of.request.typeName).decode(bytes(''));
    expect(second).toMatchObject({ collection: { limit: 50, ids: [], after: new Uint8Array() }, status: [] });
  });
});

describe('a path', () => {
  const read = (name: string, values: readonly string[]) => {
    const problems: ErrorDetail[] = [];
    return { values: readPath(inputsOf(operation(name)), values, problems), problems };
  };

  test('gives ids in lower case and codes unchanged', () => {
    expect(read('GetWebhookDelivery', [ID.toUpperCase(), OTHER.toUpperCase()])).toEqual({ values: [ID, OTHER], problems: [] });
    expect(read('GetJobClass', ['INSTALL'])).toEqual({ values: ['INSTALL'], problems: [] });
  });

  test.each([
    ['GetWebhookDelivery', [ID, 'x'], [ID, undefined], ['path id INVALID_UUID']],
    ['GetWebhookDelivery', ['x', 'y'], [undefined, undefined], ['path webhookId INVALID_UUID', 'path id INVALID_UUID']],
    ['GetJobClass', ['install'], [undefined], ['path id INVALID_ENUM_VALUE']],
    ['GetInvoice', [], [undefined], ['path id EMPTY_VALUE']],
  ])('of %s with %j has the values %j and the problems %j', (name, given, values, codes) => {
    const { values: found, problems } = read(name, given);
    expect(found).toEqual(values);
    expect(problems.map(({ location, field, code }) => `${location} ${field} ${code}`)).toEqual(codes);
    for (const { message } of problems) expect(message).toMatch(/^\w.*\.$/);
  });

  test('reads a code that is no id as the value of the enum', () => {
    const inputs = inputsOf(operation('GetJobClass'));
    expect(readPath({ ...inputs, path: inputs.path.map((input) => ({ ...input, within: 'request' as const })) }, ['INSTALL'], [])).toEqual([
      'JOB_CLASS_INSTALL',
    ]);
  });
});

describe('the headers', () => {
  const inputs = inputsOf(operation('AddAssignment'));
  const read = (value: string | undefined, of: Inputs = inputs) => {
    const problems: ErrorDetail[] = [];
    const values = readHeaders(of, (name) => (name === 'idempotency-key' ? value : 'another header'), problems);
    return { values: [...values].map(([{ name }, found]) => [name, found]), problems };
  };
  const problem = (code: string, message: string) => ({ values: [], problems: [{ location: 'header', field: 'Idempotency-Key', code, message }] });

  test('are read by the lower case of their names', () => {
    expect(read('key-12345')).toEqual({ values: [['idempotency_key', 'key-12345']], problems: [] });
  });

  test('are none for an operation that takes none', () => {
    expect(read('key-12345', inputsOf(operation('GetInvoice')))).toEqual({ values: [], problems: [] });
  });

  test('must be given if they are not nullable, and may not be empty if they are', () => {
    const nullable = { ...inputs, headers: inputs.headers.map(({ header, field }) => ({ header, field: { ...field, nullable: true } })) };
    expect(read(undefined)).toEqual(problem('MISSING', 'Send the header Idempotency-Key with a value.'));
    expect(read('')).toEqual(problem('EMPTY_VALUE', 'Send the header Idempotency-Key with a value.'));
    expect(read(undefined, nullable)).toEqual({ values: [], problems: [] });
    expect(read('', nullable)).toEqual(problem('EMPTY_VALUE', 'Send the header Idempotency-Key with a value.'));
  });

  test('must have a valid value', () => {
    expect(read('short')).toMatchObject(problem('OUT_OF_RANGE', expect.stringContaining('8') as string));
    expect(read('with a space')).toMatchObject(problem('INVALID_FORMAT', expect.anything() as string));
  });
});

describe('the body', () => {
  const shapeOf = (name: string) => bodyShape(operation(name), inputsOf(operation(name)));
  const read = (name: string, json: unknown) => {
    const problems: ErrorDetail[] = [];
    return { value: readJson(operation(name), shapeOf(name)!, json, problems), problems };
  };

  test('contains only the fields that come from the body', () => {
    const shape = shapeOf('RemoveAssignment');
    expect(shape?.typeName).toBe('truckroll.scheduling.v1.RemoveAssignmentRequest');
    expect(shape?.doc).toBe(operation('RemoveAssignment').request.doc);
    expect(shape?.fields.map(({ name }) => name)).toEqual(['expected_revision', 'customer_notification']);
    expect([...shape!.byName].map(([name, field]) => [name, field.name])).toEqual([
      ['expected_revision', 'expected_revision'],
      ['customer_notification', 'customer_notification'],
    ]);
    expect(shapeOf('GetInvoice')).toBeUndefined();
  });

  test('is read with the spelling of its operation', () => {
    expect(read('CreateApiKey', { name: 'Till', expiresAt: '2099-01-01T00:00:00Z' })).toMatchObject({
      value: { name: 'Till', expires_at: Date.UTC(2099, 0, 1) * 1000 },
      problems: [],
    });
    expect(read('RemoveAssignment', { expected_revision: 'ab'.repeat(32) })).toMatchObject({ value: { expected_revision: 'ab'.repeat(32) }, problems: [] });
  });

  test('has the problems of its fields, then those of rules over several', () => {
    const body = {
      starts_at: '2026-03-02T12:00:00Z',
      ends_at: '2026-03-02T12:00:00Z',
      expected_revision: 'ab'.repeat(32),
      appointment_id: ID,
      team_member_id: 'x',
    };
    expect(read('AddAssignment', body).problems).toEqual([
      { location: 'body', field: 'team_member_id', code: 'INVALID_UUID', message: expect.any(String) },
      { location: 'body', field: 'ends_at', code: 'RANGE_ORDER', message: expect.any(String) },
    ]);
  });

  test('may hold an object of any shape where the contract has one, and null clears it', () => {
    const types = ['service_request.created'];
    expect(read('PreviewWebhookFilter', { eventTypes: types, filter: { a: { $eq: [1] } } })).toMatchObject({
      value: { filter: '{"a":{"$eq":[1]}}' },
      problems: [],
    });
    expect(read('PreviewWebhookFilter', { eventTypes: types, filter: null })).toMatchObject({ value: { filter: null }, problems: [] });
    expect(read('UpdateWebhook', { filter: null })).toMatchObject({ value: { filter: '' }, problems: [] });
    expect(read('UpdateWebhook', {})).toMatchObject({ value: { filter: null }, problems: [] });
    expect(read('PreviewWebhookFilter', { eventTypes: types })).toMatchObject({ value: { filter: null }, problems: [] });
    for (const filter of ['x', 7, []]) {
      expect(read('PreviewWebhookFilter', { eventTypes: types, filter }).problems).toEqual([
        { location: 'body', field: 'filter', code: 'INVALID_FORMAT', message: 'Give a JSON object.' },
      ]);
    }
    const text = (length: number) => ({ eventTypes: types, filter: { a: 'x'.repeat(length - '{"a":""}'.length) } });
    expect(read('PreviewWebhookFilter', text(16_384)).problems).toEqual([]);
    expect(read('PreviewWebhookFilter', text(16_385)).problems).toMatchObject([{ field: 'filter', code: 'TOO_LARGE' }]);
  });

  test.each([
    ['TestWebhook', true],
    ['RecoverWebhook', false],
    ['UpdateWebhook', false],
    ['ListWebhooks', false],
  ])('of %s may be left out: %j', (name, expected) => {
    expect(mayBeLeftOut(operation(name), shapeOf(name))).toBe(expected);
  });

  test('does not apply to a command that takes none', () => {
    expect(mayBeLeftOut(operation('TestWebhook'), undefined)).toBe(false);
  });

  test('may not contain fields that come from the path, a header or the credential', () => {
    const { problems } = read('RemoveAssignment', { expected_revision: 'ab'.repeat(32), id: ID, caller: {}, idempotency_key: 'key-12345' });
    expect(problems.map(({ field, code }) => `${field} ${code}`)).toEqual(['id UNKNOWN_FIELD', 'caller UNKNOWN_FIELD', 'idempotency_key UNKNOWN_FIELD']);
  });
});

describe('an operation without a body', () => {
  const refused = (text: string): ErrorDetail[] => {
    const problems: ErrorDetail[] = [];
    refuseFields(Buffer.from(text, 'latin1'), problems);
    return problems;
  };

  test.each(['', '{}', '{', 'null', '7', '"text"', '[]', '["a"]', '[{"a":1}]', '{"not UTF-8: \xff":1}'])('ignores %j', (text) => {
    expect(refused(text)).toEqual([]);
  });

  test('rejects every field of an object', () => {
    const problem = (field: string) => ({ location: 'body', field, code: 'UNKNOWN_FIELD', message: 'Remove it: this operation takes no fields.' });
    expect(refused('{"name":null,"b":{"c":1}}')).toEqual([problem('name'), problem('b')]);
    expect(refused(`{"${'n'.repeat(101)}":1}`)).toEqual([problem('n'.repeat(100))]);
  });
});
