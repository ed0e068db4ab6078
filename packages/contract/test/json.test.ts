import fc from 'fast-check';
import {
  BEYOND,
  JsonBuffer,
  JsonWriter,
  checkText,
  checkValue,
  codec,
  formatInstant,
  readMessage,
  resource,
  resources,
  shapeNamed,
  type Field,
  type Shape,
} from '../src/index.ts';

function anyOf(shape: Shape): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(Object.fromEntries(shape.fields.map((field) => [field.name, anyField(field)])));
}

function anyField(field: Field): fc.Arbitrary<unknown> {
  const one = anyValue(field);
  if (field.repeated) return fc.array(one, { maxLength: 3 });
  return field.nullable ? fc.option(one) : one;
}

function anyValue(field: Field): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'uuid':
      return fc.uuid();
    case 'string':
      return anyString(field);
    case 'date':
      return fc.integer({ min: 0, max: 40_000 }).map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
    case 'timestamp':
      return fc.integer({ min: -9e15, max: 9e15 }).map(formatInstant);
    case 'cents':
      return fc.maxSafeInteger();
    case 'integer':
      return fc.integer({ min: field.range?.min ?? -(2 ** 31) + 1 });
    case 'number':
      return fc
        .double({
          min: field.range?.min ?? field.range?.above ?? -1e12,
          max: field.range?.max ?? 1e12,
          minExcluded: field.range?.above !== undefined,
          noNaN: true,
        })
        .map((value) => value + 0);
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...field.enum!.generated.keys());
    case 'reference':
    case 'object':
      return anyOf(field.shape!);
    case 'list':
      return anyField(field.shape!.fields[0]!);
    default:
      throw new Error(`no record has a field of kind ${field.kind}`);
  }
}

function anyString(field: Field): fc.Arbitrary<string> {
  const fixed: Record<string, fc.Arbitrary<string>> = {
    phone: fc.constant('+15125550100'),
    email: fc.constant('ann@example.com'),
    json_pointer: fc.constant('/sections/0/a~1b'),
    color: fc.constant('#1F6FEB'),
    currency: fc.constant('USD'),
    revision: fc.constant('0'.repeat(64)),
    time_zone: fc.constant('America/Chicago'),
    url: fc.constant('https://example.com/a?b=c'),
  };
  return fixed[field.format ?? ''] ?? fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
}

function withoutDerived(shape: Shape, value: any): any {
  const zero: Partial<Record<Field['kind'], unknown>> = { cents: 0, integer: 0, number: 0, boolean: false, string: '', timestamp: '1970-01-01T00:00:00Z' };
  return Object.fromEntries(
    shape.fields.map((field) => {
      const given = value[field.name];
      if (field.derived) return [field.name, field.repeated ? [] : field.nullable ? null : (zero[field.kind] ?? null)];
      if (field.kind === 'list' || given === null || field.shape === undefined) return [field.name, given];
      const one = (element: any) => withoutDerived(field.shape!, element);
      return [field.name, field.repeated ? given.map(one) : one(given)];
    }),
  );
}

function written(shape: Shape, bytes: Uint8Array): unknown {
  const out = new JsonBuffer(8);
  new JsonWriter().write(shape, bytes, 0, bytes.length, out);
  return JSON.parse(out.view().toString());
}

describe.each(resources.map(({ path }) => path))('%s', (path) => {
  const { record } = resource(path);

  test('survives being read from JSON, encoded, and written as JSON', () => {
    fc.assert(
      fc.property(anyOf(record), (json) => {
        const { value, problems } = readMessage(record, json);
        expect(problems).toEqual([]);
        expect(written(record, codec(record.typeName).encode(value).finish())).toEqual(withoutDerived(record, json));
      }),
      { numRuns: 40 },
    );
  });

  test('reports every missing field and every unknown one', () => {
    const { problems } = readMessage(record, { surprise: 1 });
    const needed = record.fields.filter((field) => !field.nullable && !field.derived && !field.dispensable).map(({ name }) => name);
    expect(problems.filter(({ code }) => code === 'MISSING').map(({ field }) => field)).toEqual(needed);
    expect(problems.filter(({ code }) => code === 'UNKNOWN_FIELD').map(({ field }) => field)).toEqual(['surprise']);
  });
});

test('writes fields that are out of order, repeated or from a newer peer', () => {
  const { record } = resource('payments');
  const text = (number: number, value: string) => Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), Buffer.from(value)]);
  const newer = Buffer.from([0xf8, 0x3f, 7]);
  const bytes = Buffer.concat([text(7, 'USD'), newer, text(2, 'P-1'), text(2, 'P-2')]);
  expect(written(record, bytes)).toMatchObject({ number: 'P-2', currency: 'USD', amount_cents: 0, invoice_allocations: [] });
});

test('reserves room for text that takes six times as much in JSON as on the wire', () => {
  const { record } = resource('invoices');
  const text = '\u0001"\\é\u007f'.repeat(500);
  const line = {
    id: '',
    name: text,
    description: text,
    position: 1,
    quantity: 0.1,
    unit_price_cents: -1,
    subtotal_cents: 1,
    taxable: true,
    discountable: true,
  };
  const { encode } = codec(record.typeName);
  const bytes = encode({ ...(codec(record.typeName).decode(new Uint8Array()) as object), number: text, line_items: [line, line], discounts: [] }).finish();
  expect(written(record, bytes)).toMatchObject({ number: text, line_items: [{ name: text, description: text, taxable: true }, { name: text }], aging: null });
});

describe('a query value', () => {
  const parameter = (path: string, name: string) => resource(path).list.parameters.find((candidate) => candidate.name === name)!.field;

  test('explains a lost plus sign', () => {
    expect(checkText(parameter('invoices', 'created_from'), '2026-03-01T15:04:05 02:00')).toMatchObject({
      code: 'INVALID_FORMAT',
      message: expect.stringContaining('%2B'),
    });
  });

  test.each([
    ['ids', 'nonsense', 'INVALID_UUID'],
    ['status', 'open', 'INVALID_ENUM_VALUE'],
    ['job_class', 'null', 'INVALID_ENUM_VALUE'],
    ['issued_from', '2026-02-30', 'INVALID_FORMAT'],
    ['issued_from', '0000-01-01', 'INVALID_FORMAT'],
    ['limit', '101', 'OUT_OF_RANGE'],
    ['limit', '1.5', 'INVALID_FORMAT'],
    ['updated_since', '', 'EMPTY_VALUE'],
  ])('%s=%s is %s', (name, text, code) => {
    expect(checkText(parameter('invoices', name), text)).toMatchObject({ code });
  });

  test('turns a date-time outside the supported range into the bound on its side, which no record reaches', () => {
    const field = parameter('invoices', 'created_before');
    expect(checkText(field, '9999-12-31T00:00:00Z')).toEqual({ value: BEYOND.after });
    expect(checkText(field, '0001-01-01T00:00:00-06:00')).toEqual({ value: BEYOND.before });
    const created = resource('invoices').record.byName.get('created_at')!;
    for (const [side, last] of [
      [BEYOND.after, BEYOND.after - 1],
      [BEYOND.before, BEYOND.before + 1],
    ] as const) {
      expect(checkValue(created, formatInstant(side))).toMatchObject({
        code: 'OUT_OF_RANGE',
        message: expect.stringContaining('before 2255-06-05T23:47:34.740991Z'),
      });
      expect(checkValue(created, formatInstant(last))).toEqual({ value: last });
    }
  });

  test('accepts uuids in any case and returns them in lower case', () => {
    expect(checkText(parameter('invoices', 'ids'), '0B8F3C1E-7A52-4C6D-9E10-2F4A5B6C7D8E')).toEqual({ value: '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e' });
  });
});

describe('null in a body', () => {
  const read = (json: object) => {
    const { value, problems } = readMessage<Record<string, unknown>>(shapeNamed('truckroll.integrations.v1.UpdateWebhookRequest'), json, 'camel');
    return { value, problems: problems.filter(({ field }) => field !== 'caller' && field !== 'id') };
  };

  test('differs from an omitted field only where it clears the stored value', () => {
    const { value, problems } = read({ name: null, maxPerSecond: null });
    expect([value, problems]).toEqual([expect.objectContaining({ name: null, max_per_second: 0 }), []]);
    expect(read({}).value).toMatchObject({ name: null, max_per_second: null });
  });

  test('cannot be sent as the zero value that it becomes', () => {
    expect(read({ maxPerSecond: 0 }).problems).toMatchObject([{ field: 'maxPerSecond', code: 'OUT_OF_RANGE' }]);
    expect(read({ maxPerSecond: 1 })).toMatchObject({ value: { max_per_second: 1 }, problems: [] });
  });
});
