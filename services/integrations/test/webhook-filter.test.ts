import { checkValue, shapeNamed, type Field, type Shape } from '@truckroll/contract';
import fc from 'fast-check';
import { checkFilter } from '../src/webhooks/filter/check.ts';
import { compileFilter, type EventFilter } from '../src/webhooks/filter/compile.ts';
import { matcherOf, subscribed } from '../src/webhooks/filter/matchers.ts';
import { pathsOf, pathsOfType, readValue } from '../src/webhooks/filter/paths.ts';

const REQUEST = pathsOfType('service_request.created');
const INTERACTION = pathsOfType('interaction.completed');
/** An invoice has lists, dates, amounts, numbers and booleans, which no event has yet. */
const INVOICE = shapeNamed('truckroll.billing.v1.Invoice');
const invoicePaths = pathsOf(INVOICE);
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

const lets = (filter: EventFilter, data: unknown, paths = REQUEST): boolean => {
  expect(checkFilter(filter, [paths])).toEqual([]);
  return compileFilter(filter, paths)(data);
};
const problems = (filter: unknown, ...types: (typeof REQUEST)[]) => checkFilter(filter, types.length === 0 ? [REQUEST] : types);

test.each<[EventFilter[string], unknown, boolean]>([
  [{ $eq: 'BOOKED' }, 'BOOKED', true],
  [{ $eq: 'BOOKED' }, 'NEW', false],
  [{ $ne: 'BOOKED' }, 'BOOKED', false],
  [{ $ne: 'BOOKED' }, 'NEW', true],
  [{ $in: ['BOOKED', 'NEW'] }, 'NEW', true],
  [{ $in: ['BOOKED', 'NEW'] }, 'CONTACTED', false],
  [{ $nin: ['BOOKED', 'NEW'] }, 'NEW', false],
  [{ $nin: ['BOOKED', 'NEW'] }, 'CONTACTED', true],
  [{ $exists: true }, 'NEW', true],
  [{ $exists: false }, 'NEW', false],
  [{ $ne: 'NEW', $in: ['NEW', 'BOOKED'] }, 'NEW', false],
  [{ $ne: 'NEW', $in: ['NEW', 'BOOKED'] }, 'BOOKED', true],
  [{ $eq: 'BOOKED' }, 'A_STATUS_OF_A_NEWER_RELEASE', false],
  [{ $ne: 'BOOKED' }, 'A_STATUS_OF_A_NEWER_RELEASE', true],
])('status %j with %j lets through: %j', (condition, status, expected) => {
  expect(lets({ status: condition }, { status })).toBe(expected);
});

test.each<[string, EventFilter[string], boolean]>([
  ['summary', { $exists: false }, true],
  ['summary', { $exists: true }, false],
  ['summary', { $ne: 'AC' }, true],
  ['summary', { $nin: ['AC'] }, true],
  ['summary', { $ne: 'AC', $exists: false }, true],
  ['summary', { $ne: 'AC', $exists: true }, false],
  ['summary', { $eq: 'AC' }, false],
  ['summary', { $in: ['AC'] }, false],
  ['summary', { $startsWith: '' }, false],
  ['booked_at', { $gt: '2000-01-01T00:00:00Z' }, false],
  ['booked_at', { $gte: '2000-01-01T00:00:00Z' }, false],
  ['booked_at', { $lt: '2100-01-01T00:00:00Z' }, false],
  ['booked_at', { $lte: '2100-01-01T00:00:00Z' }, false],
  ['account.id', { $exists: false }, true],
  ['account', { $exists: false }, true],
])('a null or missing %s with %j lets through: %j', (path, condition, expected) => {
  expect(lets({ [path]: condition }, { [path.split('.')[0]!]: null })).toBe(expected);
  expect(lets({ [path]: condition }, {})).toBe(expected);
  expect(lets({ [path]: condition }, undefined)).toBe(expected);
  // A path that the type of the event lacks.
  expect(compileFilter({ [path]: condition }, INTERACTION.has(path) ? new Map() : INTERACTION)({ [path]: 'x' })).toBe(expected);
});

test('an object exists if it is present', () => {
  expect(lets({ account: { $exists: true } }, { account: { id: ID, name: 'Whitfield' } })).toBe(true);
  expect(lets({ account: { $exists: false } }, { account: { id: ID, name: 'Whitfield' } })).toBe(false);
});

test('all conditions must hold, and an empty filter matches everything', () => {
  const filter = { status: { $eq: 'NEW' }, channel: { $eq: 'PHONE' } };
  expect(lets(filter, { status: 'NEW', channel: 'PHONE' })).toBe(true);
  expect(lets(filter, { status: 'NEW', channel: 'WEB' })).toBe(false);
  expect(lets(filter, { status: 'BOOKED', channel: 'PHONE' })).toBe(false);
  expect(lets({}, {})).toBe(true);
});

test('compares date-times as instants, whatever their spelling, and those beyond all instants with every one', () => {
  const created_at = '2026-03-01T12:00:00.500000Z';
  expect(lets({ created_at: { $eq: '2026-03-01T06:00:00.500-06:00' } }, { created_at })).toBe(true);
  expect(lets({ created_at: { $gt: '2026-03-01T13:00:00.499999+01:00' } }, { created_at })).toBe(true);
  expect(lets({ created_at: { $lt: '2026-03-01T12:00:00Z' } }, { created_at })).toBe(false);
  expect(lets({ created_at: { $gt: '2026-03-01T12:00:00Z' } }, { created_at })).toBe(true);
  expect(lets({ created_at: { $lt: '2026-03-01T12:00:00.000001Z' } }, { created_at: '2026-03-01T12:00:00Z' })).toBe(true);
  expect(lets({ created_at: { $eq: '2026-03-01T12:00:00Z' } }, { created_at: '2026-03-01T06:00:00-06:00' })).toBe(true);
  expect(lets({ created_at: { $lt: '9999-12-31T00:00:00Z' } }, { created_at })).toBe(true);
  expect(lets({ created_at: { $gt: '0001-01-01T00:00:00Z' } }, { created_at })).toBe(true);
});

test('compares date-times in any spelling of an event, and no other text as one', () => {
  for (const created_at of ['2026-03-01T06:00:00.5-06:00', '2026-03-01T12:00:00.5Z']) {
    expect(lets({ created_at: { $eq: '2026-03-01T12:00:00.500000Z' } }, { created_at })).toBe(true);
  }
  const summary = '2026-03-01T12:00:00Z';
  expect(lets({ summary: { $eq: summary } }, { summary })).toBe(true);
});

test('compares ids without regard to case, and text with it', () => {
  expect(lets({ id: { $eq: ID.toUpperCase() } }, { id: ID })).toBe(true);
  expect(lets({ summary: { $startsWith: 'AC' } }, { summary: 'AC not cooling' })).toBe(true);
  expect(lets({ summary: { $startsWith: 'ac' } }, { summary: 'AC not cooling' })).toBe(false);
  expect(lets({ summary: { $eq: 'ac' } }, { summary: 'AC' })).toBe(false);
});

test('a list matches where one element fulfils the whole condition', () => {
  const items = (...descriptions: (string | null)[]) => ({ line_items: descriptions.map((description) => ({ description })) });
  expect(lets({ 'line_items.description': { $eq: 'Filter' } }, items('Pump', 'Filter'), invoicePaths)).toBe(true);
  expect(lets({ 'line_items.description': { $ne: 'Filter' } }, items('Pump', 'Filter'), invoicePaths)).toBe(true);
  expect(lets({ 'line_items.description': { $ne: 'Filter' } }, items('Filter'), invoicePaths)).toBe(false);
  expect(lets({ 'line_items.description': { $startsWith: 'F', $ne: 'Filter' } }, items('Filter', 'Pump'), invoicePaths)).toBe(false);
  expect(lets({ 'line_items.description': { $ne: 'Filter' } }, items(), invoicePaths)).toBe(true);
  expect(lets({ line_items: { $exists: true } }, items('Pump'), invoicePaths)).toBe(true);
  expect(lets({ line_items: { $exists: false } }, items(), invoicePaths)).toBe(true);
});

test('a list that can be null is looked into as any other', () => {
  const paths = pathsOf(shapeNamed('truckroll.scheduling.v1.FormResponse'));
  expect([...paths.keys()].filter((path) => path.startsWith('questions.v'))).toEqual(['questions.value']);
  expect(lets({ 'questions.value': { $eq: 'Yes' } }, { questions: [{ value: 'No' }, { value: 'Yes' }] }, paths)).toBe(true);
  expect(lets({ questions: { $exists: false } }, { questions: null }, paths)).toBe(true);
});

test('has no paths for values of any form', () => {
  const paths = [...pathsOf(shapeNamed('truckroll.integrations.v1.AuditEvent')).keys()];
  expect(paths).toContain('action');
  expect(paths).not.toContain('before');
});

test('a value that the path of another type cannot have equals nothing and has no order', () => {
  const filter = { status: { $in: ['BOOKED', 'COMPLETED'] } };
  expect(problems(filter, REQUEST, INTERACTION)).toEqual([]);
  expect(compileFilter(filter, REQUEST)({ status: 'BOOKED' })).toBe(true);
  expect(compileFilter(filter, INTERACTION)({ status: 'COMPLETED' })).toBe(true);
  expect(compileFilter(filter, INTERACTION)({ status: 'IN_PROGRESS' })).toBe(false);
  for (const operator of ['$eq', '$gt', '$gte', '$lt', '$lte']) {
    expect(compileFilter({ created_at: { [operator]: 'AC' } }, REQUEST)({ created_at: '2026-03-01T12:00:00Z' })).toBe(false);
  }
  expect(compileFilter({ created_at: { $ne: 'AC' } }, REQUEST)({ created_at: '2026-03-01T12:00:00Z' })).toBe(true);
  expect(compileFilter({ duration_seconds: { $startsWith: '1' } }, INTERACTION)({ duration_seconds: 12 })).toBe(false);
  expect(compileFilter({ summary: { $startsWith: 1 } }, REQUEST)({ summary: '12' })).toBe(false);
});

test.each<[string, unknown, string, string]>([
  ['text', 'x', 'filter', 'Give an object such as {"status": {"$in": ["BOOKED"]}}, or null for no filter.'],
  ['null', null, 'filter', 'Give an object such as {"status": {"$in": ["BOOKED"]}}, or null for no filter.'],
  ['a list', [], 'filter', 'Give an object such as {"status": {"$in": ["BOOKED"]}}, or null for no filter.'],
  ['a bare value', { status: 'NEW' }, 'filter.status', 'Give an object of operators, such as {"$exists": true}. Of this path: $eq, $ne, $in, $nin, $exists.'],
  ['no operator', { status: {} }, 'filter.status', 'Give an object of operators, such as {"$exists": true}. Of this path: $eq, $ne, $in, $nin, $exists.'],
  ['an unknown operator', { status: { $is: 'NEW' } }, 'filter.status.$is', 'There is no such operator. Give one of $eq, $ne, $in, $nin, $exists.'],
  ['an order of ids', { id: { $gt: ID } }, 'filter.id.$gt', 'The path takes other operators. Give one of $eq, $ne, $in, $nin, $exists.'],
  ['an equal object', { account: { $eq: ID } }, 'filter.account.$eq', 'The path takes other operators. Give one of $exists.'],
  ['a vague existence', { id: { $exists: 'true' } }, 'filter.id.$exists', 'Give true or false.'],
  ['no list', { status: { $in: 'NEW' } }, 'filter.status.$in', 'Give a list of at least one value.'],
  ['an empty list', { status: { $nin: [] } }, 'filter.status.$nin', 'Give a list of at least one value.'],
  ['a wrong element', { id: { $in: [ID, 7] } }, 'filter.id.$in[1]', 'Give a UUID such as 0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e.'],
  ['null', { summary: { $eq: null } }, 'filter.summary.$eq', 'It cannot be null: use $exists.'],
  ['a null element', { summary: { $in: [null] } }, 'filter.summary.$in[0]', 'It cannot be null: use $exists.'],
  ['a number as text', { summary: { $startsWith: 7 } }, 'filter.summary.$startsWith', 'Give a string.'],
])('%s is refused: %j', (_, filter, field, message) => {
  expect(problems(filter)).toEqual([expect.objectContaining({ field, message })]);
});

test('values are checked by the kind of the path, in any of the types', () => {
  expect(problems({ created_at: { $gt: 'yesterday' } })[0]).toMatchObject({ field: 'filter.created_at.$gt', code: 'INVALID_FORMAT' });
  expect(problems({ status: { $eq: 'booked' } })[0]).toMatchObject({
    code: 'INVALID_ENUM_VALUE',
    message: expect.stringMatching(/^Give one of NEW, .*BOOKED/),
  });
  expect(problems({ status: { $eq: 'booked' } }, REQUEST, INTERACTION)[0]?.message).toMatch(/BOOKED.* Or: Give one of IN_PROGRESS, COMPLETED/);
  expect(problems({ duration_seconds: { $gt: '5' } }, INTERACTION)[0]).toMatchObject({ code: 'INVALID_FORMAT', message: 'Give an integer.' });
  expect(problems({ duration_seconds: { $gt: 4.5 } }, INTERACTION)).toEqual([]);
});

test('a value is checked by the types whose path takes the operator', () => {
  const [text, amount] = ['number', 'amounts.total_cents'].map((name) => new Map([['x', invoicePaths.get(name)!]]));
  expect(problems({ x: { $eq: 'AC' } }, text!, amount!)).toEqual([]);
  expect(problems({ x: { $gt: 'AC' } }, text!, amount!)).toEqual([expect.objectContaining({ field: 'filter.x.$gt', message: 'Give an integer.' })]);
});

test.each<[string, string, unknown]>([
  ['a text for a boolean', 'line_items.taxable', 'true'],
  ['a text for a date', 'follow_up_on', 'AC'],
])('%s is refused', (_, path, value) => {
  const paths = new Map([...invoicePaths, ...pathsOf(shapeNamed('truckroll.scheduling.v1.JobLead'))]);
  expect(problems({ [path]: { $eq: value } }, paths)).toEqual([expect.objectContaining({ field: `filter.${path}.$eq`, code: 'INVALID_FORMAT' })]);
});

test('every value that a path cannot have is refused with a reason', () => {
  const everyPath = ['billing.v1.Invoice', 'scheduling.v1.JobLead'].flatMap((name) => [...pathsOf(shapeNamed(`truckroll.${name}`)).values()]);
  const fields = everyPath.filter((path) => path.class !== 'object').map(({ field }) => field);
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(...TEXTS, ...INSTANTS, ...DATES, ...IDS, 'PAID'));
  fc.assert(
    fc.property(fc.constantFrom(...fields), value, (field, given) => {
      fc.pre(readValue(field, given) === undefined);
      expect(checkValue(field, given)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    }),
    { numRuns: 2000 },
  );
});

test('takes twenty conditions and a hundred values, and no more', () => {
  const many = (count: number) => Object.fromEntries([...invoicePaths.keys()].slice(0, count).map((path) => [path, { $exists: true }]));
  expect(problems(many(20), invoicePaths)).toEqual([]);
  expect(problems(many(21), invoicePaths)).toEqual([{ field: 'filter', code: 'OUT_OF_RANGE', message: 'Give conditions on at most 20 paths.' }]);
  expect(problems({ status: { $in: new Array(100).fill('NEW') } })).toEqual([]);
  expect(problems({ status: { $in: new Array(101).fill('NEW') } })).toEqual([
    { field: 'filter.status.$in', code: 'OUT_OF_RANGE', message: 'Give at most 100.' },
  ]);
});

test('an endpoint gets events of its types that its filter lets through', () => {
  const filter = '{"status":{"$eq":"BOOKED"}}';
  const endpoints = [
    { event_types: ['service_request.created'], filter: null },
    { event_types: ['service_request.created'], filter },
    { event_types: ['interaction.completed'], filter: null },
    { event_types: ['interaction.completed', 'service_request.created'], filter: '{"status":{"$ne":"BOOKED"}}' },
  ].map((each, index) => ({ ...each, id: `endpoint ${index}` }));
  const got = (type: string, status: string) =>
    subscribed(endpoints, { type, body: Buffer.from(JSON.stringify({ status: 'BOOKED', data: { status } })) }).map((each) => endpoints.indexOf(each));
  expect(got('service_request.created', 'BOOKED')).toEqual([0, 1]);
  expect(got('service_request.created', 'NEW')).toEqual([0, 3]);
  expect(got('interaction.completed', 'COMPLETED')).toEqual([2, 3]);
  let reads = 0;
  const text = (): string => ((reads += 1), '{"data":{"status":"BOOKED"}}');
  const body = Object.assign(Buffer.alloc(0), { toString: text });
  expect(subscribed([...endpoints, ...endpoints], { type: 'service_request.created', body })).toHaveLength(4);
  expect(reads).toBe(1);
  expect(subscribed(endpoints.slice(0, 1), { type: 'service_request.created', body: Buffer.from('no JSON') })).toHaveLength(1);
});

test('keeps a filter compiled by endpoint and type, until it has another version', () => {
  const text = (number: number) => JSON.stringify({ number: { $eq: `SR-${number}` } });
  const [first, other] = [matcherOf('a', text(0), 'service_request.created'), matcherOf('a', text(0), 'service_request.booked')];
  expect(first).not.toBe(other);
  expect([matcherOf('a', text(0), 'service_request.created'), matcherOf('a', text(0), 'service_request.booked')]).toEqual([first, other]);
  const second = matcherOf('a', text(1), 'service_request.created');
  expect([second({ number: 'SR-0' }), second({ number: 'SR-1' })]).toEqual([false, true]);
  expect(matcherOf('b', text(0), 'service_request.created')).not.toBe(first);
  expect(matcherOf('a', text(0), 'service_request.created')).not.toBe(first);
});

test('forgets the oldest compiled filters beyond four million characters, and never the one in use', () => {
  const long = (value: string): string => JSON.stringify({ number: { $eq: value.repeat(999_979) } });
  expect(long('x')).toHaveLength(1_000_000);
  const own = ['1', '2', '3', '4'].map((id) => matcherOf(id, long(id), 'service_request.created'));
  expect(['1', '2', '3', '4'].map((id) => matcherOf(id, long(id), 'service_request.created'))).toEqual(own);
  // The first endpoint's filter for another type takes the place of the second's.
  matcherOf('1', long('1'), 'service_request.booked');
  expect(matcherOf('1', long('1'), 'service_request.created')).toBe(own[0]);
  expect(matcherOf('3', long('3'), 'service_request.created')).toBe(own[2]);
  expect(matcherOf('2', long('2'), 'service_request.created')).not.toBe(own[1]);
});

// The oracle: it knows the operators from decisions §15 and nothing of the code above.

const TEXTS = ['', 'A', 'AC', 'ac', 'B'];
const INSTANTS = ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000001Z', '2026-03-01T06:00:00-06:00', '2026-03-02T12:00:00+01:00', '1999-12-31T23:59:59Z'];
const DATES = ['2026-03-01', '2026-03-02', '1999-12-31'];
const IDS = [ID, '1b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e'];

function someValue(field: Field): fc.Arbitrary<unknown> | undefined {
  switch (field.kind) {
    case 'uuid':
      return fc.constantFrom(...IDS);
    case 'string':
      return fc.constantFrom(...TEXTS);
    case 'timestamp':
      return fc.constantFrom(...INSTANTS);
    case 'date':
    case 'local_date':
      return fc.constantFrom(...DATES);
    case 'cents':
    case 'integer':
    case 'number':
      return fc.integer({ min: -2, max: 2 });
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...field.enum!.generated.keys());
    default:
      return undefined;
  }
}

function someRecord(shape: Shape): fc.Arbitrary<Record<string, unknown>> {
  const fields = shape.fields.map((field) => {
    const inner = field.kind === 'list' ? field.shape!.fields[0]! : field;
    const one = inner.shape === undefined ? (someValue(inner) ?? fc.constant(null)) : someRecord(inner.shape);
    const value = field.repeated || field.kind === 'list' ? fc.array(one, { maxLength: 3 }) : one;
    return [field.name, fc.option(value, { freq: 3 })] as const;
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

const scalars = [...invoicePaths].filter(([, path]) => path.class !== 'object');
const someCondition = fc.constantFrom(...scalars).chain(([name, { field }]) => {
  const value = someValue(field)!;
  const ordered = ['timestamp', 'date', 'local_date', 'cents', 'integer', 'number'].includes(field.kind);
  const operators = {
    $eq: value,
    $ne: value,
    $in: fc.array(value, { minLength: 1, maxLength: 3 }),
    $nin: fc.array(value, { minLength: 1, maxLength: 3 }),
    $exists: fc.boolean(),
    ...(ordered ? { $gt: value, $gte: value, $lt: value, $lte: value } : {}),
    ...(field.kind === 'string' ? { $startsWith: value } : {}),
  };
  const some = fc.uniqueArray(fc.constantFrom(...Object.keys(operators)), { minLength: 1, maxLength: 2 });
  const condition = some.chain((names) => fc.record(Object.fromEntries(names.map((each) => [each, operators[each as '$eq']]))));
  return condition.map((one) => [name, one as Record<string, unknown>, field.kind] as const);
});

function expected(conditions: readonly (readonly [string, Record<string, unknown>, string])[], record: unknown): boolean {
  return conditions.every(([path, condition, kind]) => {
    let found: unknown[] = [record];
    for (const key of path.split('.')) found = found.flatMap((each) => (each as Record<string, unknown>)[key] ?? []).filter((each) => each !== null);
    const candidates = found.length === 0 ? [undefined] : found;
    return candidates.some((candidate) => Object.entries(condition).every(([operator, value]) => fulfils(candidate, operator, value, kind)));
  });
}

function microseconds(text: string): number {
  const [, whole, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text) as unknown as [string, string, string | undefined, string];
  return Date.parse(whole + zone) * 1000 + Number(fraction.padEnd(6, '0'));
}

function fulfils(candidate: unknown, operator: string, value: unknown, kind: string): boolean {
  const order = (other: unknown): number =>
    kind === 'timestamp'
      ? Math.sign(microseconds(candidate as string) - microseconds(other as string))
      : candidate === other
        ? 0
        : (candidate as string) < (other as string)
          ? -1
          : 1;
  const there = candidate !== undefined;
  const list = value as unknown[];
  switch (operator) {
    case '$exists':
      return there === value;
    case '$eq':
      return there && order(value) === 0;
    case '$ne':
      return !there || order(value) !== 0;
    case '$in':
      return there && list.some((each) => order(each) === 0);
    case '$nin':
      return !there || !list.some((each) => order(each) === 0);
    case '$gt':
      return there && order(value) > 0;
    case '$gte':
      return there && order(value) >= 0;
    case '$lt':
      return there && order(value) < 0;
    case '$lte':
      return there && order(value) <= 0;
    default:
      return there && (candidate as string).slice(0, (value as string).length) === value;
  }
}

test('agrees with the oracle on random records and filters', () => {
  const conditions = fc.uniqueArray(someCondition, { selector: ([name]) => name, minLength: 1, maxLength: 2 });
  const seen = { let: 0, kept: 0 };
  fc.assert(
    fc.property(someRecord(INVOICE), conditions, (record, some) => {
      const filter = Object.fromEntries(some.map(([name, condition]) => [name, condition]));
      expect(checkFilter(filter, [invoicePaths])).toEqual([]);
      const wanted = expected(some, record);
      seen[wanted ? 'let' : 'kept'] += 1;
      expect(compileFilter(filter, invoicePaths)(record)).toBe(wanted);
    }),
    { numRuns: 5000 },
  );
  expect(Math.min(seen.let, seen.kept)).toBeGreaterThan(500);
});
