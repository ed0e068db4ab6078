import { WireCursor, type Field, type Shape } from '@truckroll/contract';
import fc from 'fast-check';
import { Assembler } from '../src/assemble.ts';
import { ByteBuffer } from '../src/byte-buffer.ts';

const id = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

/** A message of any shape, as field numbers with bytes: of a reference its id and name, of an object its fields. */
type Wire = readonly (readonly [number, Uint8Array])[];

const wire = (fields: Wire): Buffer => Buffer.concat(fields.map(([number, bytes]) => Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])));
const named = (of: string, name?: string): Buffer => wire([[1, Buffer.from(of)], ...(name === undefined ? [] : [[2, Buffer.from(name)] as const])]);

function varint(value: number): Buffer {
  return value < 0x80 ? Buffer.of(value) : Buffer.concat([Buffer.of((value % 0x80) + 0x80), varint(Math.floor(value / 0x80))]);
}

function read(shape: Shape | undefined, bytes: Uint8Array): unknown[] {
  const found: unknown[] = [];
  for (const cursor = new WireCursor(bytes); cursor.field !== 0; cursor.advance()) {
    const field = shape?.fields.find(({ number }) => number === cursor.field);
    const content = bytes.subarray(cursor.body, cursor.end);
    const opened = field?.kind === 'reference' || field?.kind === 'object';
    found.push([cursor.field, opened ? read(field.shape, content) : Buffer.from(content).toString()]);
  }
  return found;
}

function field(number: number, kind: Field['kind'], more: Partial<Field> = {}): Field {
  return { name: `f${number}`, number, kind, nullable: true, repeated: false, derived: false, endless: false, dispensable: false, doc: '', ...more };
}

const shapeOf = (...fields: Field[]): Shape => ({ typeName: '', doc: '', fields, byName: new Map() });
const refersTo = (number: number, kind: string): Field => field(number, 'reference', { refersTo: kind });

/** A visit with a job. Each call makes another shape, because assemblers share what they know of a shape. */
function visitShape(): Shape {
  const plain = shapeOf(field(1, 'string'));
  const job = shapeOf(refersTo(1, 'accounts'), field(2, 'string'), refersTo(16, 'job-types'));
  return shapeOf(
    field(1, 'string'),
    refersTo(2, 'accounts'),
    refersTo(3, 'invoices'),
    field(4, 'object', { shape: job }),
    field(5, 'object', { shape: plain }),
    field(6, 'reference'),
    field(7, 'uuid', { refersTo: 'jobs' }),
    field(15, 'string'),
    refersTo(16, 'tags'),
    field(17, 'object', { shape: shapeOf(field(1, 'object', { shape: job })) }),
    field(18, 'object', { shape: shapeOf(field(1, 'object', { shape: plain }), field(2, 'reference')) }),
  );
}
const visit = visitShape();

function visits(names: Record<string, string | null>) {
  const out = new ByteBuffer(1);
  const asked: string[] = [];
  const assembler = new Assembler(visitShape(), out, {
    get: (kind, of) => {
      asked.push(`${kind} ${of}`);
      const name = names[`${kind} ${of}`];
      return name == null ? name : Buffer.from(name);
    },
  });
  return {
    asked,
    missing: assembler.missing,
    record(parts: readonly Wire[], without?: ReadonlySet<number>): Buffer {
      const before = out.view().length;
      assembler.record(parts.map(wire), without);
      return out.view().subarray(before);
    },
  };
}

const text = Buffer.from('text');

describe('a reference', () => {
  const lengths = [0, 1, 2, 126, 127, 128, 129, 16_383, 16_384, 16_385];

  test.each(lengths)('with a name of %i bytes gets the latest one, whatever its length', (length) => {
    for (const latest of lengths) {
      const assembled = visits({ 'accounts a': 'L'.repeat(latest) }).record([[[2, named('a', length === 0 ? undefined : 'S'.repeat(length))]]]);
      expect(read(visit, assembled)).toEqual([[2, [[1, 'a'], ...(latest === 0 ? [] : [[2, 'L'.repeat(latest)]])]]]);
    }
  });

  test.each(lengths)('keeps every byte if its name of %i bytes is the latest', (length) => {
    const name = length === 0 ? undefined : 'S'.repeat(length);
    const record: Wire = [
      [1, text],
      [2, named('a', name)],
      [3, named('a', name)],
      [16, named('a', name)],
      [15, text],
    ];
    expect(
      visits({ 'accounts a': name ?? '', 'invoices a': name ?? '', 'tags a': name ?? '' })
        .record([record])
        .equals(wire(record)),
    ).toBe(true);
  });

  test.each([
    ['xname', 'name'],
    ['name', 'xname'],
    ['namf', 'name'],
    ['oame', 'name'],
    ['\u0004name', 'name'],
    ['\u0012\u0004name', 'name'],
  ])('with the name %j gets the name %j', (stored, latest) => {
    expect(read(visit, visits({ 'accounts a': latest }).record([[[2, named('a', stored)]]]))).toEqual([
      [
        2,
        [
          [1, 'a'],
          [2, latest],
        ],
      ],
    ]);
  });

  test.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a name only', wire([[2, Buffer.from('name')]])],
  ])('with %s stays as it is', (_, bytes) => {
    const reader = visits({ 'accounts ': 'new' });
    expect(reader.record([[[2, bytes]]]).equals(wire([[2, bytes]]))).toBe(true);
    expect(reader.asked).toEqual([]);
  });

  test.each([
    ['to no kind of record', 6],
    ['by its id alone', 7],
  ])('%s does not change', (_, number) => {
    const reader = visits({});
    const record: Wire = [[number, named('a', 'name')]];
    expect(reader.record([record]).equals(wire(record))).toBe(true);
    expect([reader.asked, reader.missing]).toEqual([[], new Map()]);
  });

  test('without an id does not change, and the next one of its field gets its name', () => {
    const reader = visits({ 'accounts a': 'A' });
    const withJob = (name?: string): Wire => [
      [
        4,
        wire([
          [1, Buffer.alloc(0)],
          [1, named('a', name)],
        ]),
      ],
    ];
    expect(read(visit, reader.record([withJob()]))).toEqual(read(visit, wire(withJob('A'))));
    expect(reader.asked).toEqual(['accounts a']);
  });

  test('gets its name inside objects, wherever it is repeated, and nothing else changes', () => {
    const inner = wire([
      [1, named('a', 'old')],
      [2, text],
      [16, named('t', 'old')],
      [16, named('u')],
    ]);
    const record: Wire = [
      [1, text],
      [2, named('a')],
      [2, named('b', 'B')],
      [4, inner],
      [4, Buffer.alloc(0)],
      [5, wire([[1, text]])],
      [15, text],
      [16, named('a', 'x')],
      [17, wire([[1, inner]])],
      [90, text],
    ];
    const opened = [
      [
        1,
        [
          [1, 'a'],
          [2, 'A'],
        ],
      ],
      [2, 'text'],
      [
        16,
        [
          [1, 't'],
          [2, 'T'],
        ],
      ],
      [16, [[1, 'u']]],
    ];
    const names = { 'accounts a': 'A', 'accounts b': 'B', 'job-types t': 'T', 'job-types u': null, 'tags a': 'tag' };
    expect(read(visit, visits(names).record([record]))).toEqual([
      [1, 'text'],
      [
        2,
        [
          [1, 'a'],
          [2, 'A'],
        ],
      ],
      [
        2,
        [
          [1, 'b'],
          [2, 'B'],
        ],
      ],
      [4, opened],
      [4, []],
      [5, [[1, 'text']]],
      [15, 'text'],
      [
        16,
        [
          [1, 'a'],
          [2, 'tag'],
        ],
      ],
      [17, [[1, opened]]],
      [90, 'text'],
    ]);
  });
});

test('copies objects without references to a kind of record byte for byte', () => {
  const content = wire([
    [1, wire([[1, text]])],
    [2, named('a', 'name')],
  ]);
  const record: Wire = [
    [5, wire([[1, text]])],
    [18, content],
  ];
  expect(visits({}).record([record]).equals(wire(record))).toBe(true);
});

describe('names that are not cached', () => {
  test('are missing, once each by kind, and the stored ones stay', () => {
    const reader = visits({ 'accounts c': null });
    const record: Wire = [
      [2, named('a', 'old')],
      [2, named('b')],
      [2, named('a', 'other')],
      [2, named('c')],
      [3, named('a')],
    ];
    expect(reader.record([record]).equals(wire(record))).toBe(true);
    expect(reader.missing).toEqual(
      new Map([
        ['accounts', new Set(['a', 'b'])],
        ['invoices', new Set(['a'])],
      ]),
    );
  });

  test('are inserted once they are known', () => {
    const names: Record<string, string> = {};
    const reader = visits(names);
    reader.record([[[2, named('a', 'old')]]]);
    names['accounts a'] = 'A';
    expect(read(visit, reader.record([[[2, named('a', 'old')]]]))).toEqual([
      [
        2,
        [
          [1, 'a'],
          [2, 'A'],
        ],
      ],
    ]);
  });
});

test('looks a name up once for the records of a page, also if there is none', () => {
  const reader = visits({ 'accounts a': 'A', 'accounts b': null });
  for (let round = 0; round < 3; round++)
    reader.record([
      [
        [2, named('a', 'old')],
        [2, named('b')],
      ],
    ]);
  expect(reader.asked).toEqual(['accounts a', 'accounts b']);
});

test('distinguishes kinds, and ids that differ in one character', () => {
  const characters = [...'0123456789abcdef'];
  const ids = Array.from({ length: 36 }, (_, at) => characters.map((character) => `${id.slice(0, at)}${character}${id.slice(at + 1)}`)).flat();
  const prefixes = [id.slice(0, 1), id.slice(0, 35), `${id}0`];
  const known = Object.fromEntries(
    [...ids, ...prefixes].flatMap((of) => ['accounts', 'invoices', 'tags'].map((kind) => [`${kind} ${of}`, `${kind} of ${of}`])),
  );
  const reader = visits(known);
  const record: Wire = [...ids, ...prefixes, ...ids].flatMap((of) => [[2, named(of)] as const, [3, named(of)] as const, [16, named(of)] as const]);
  const kinds: Record<number, string> = { 2: 'accounts', 3: 'invoices', 16: 'tags' };
  expect(read(visit, reader.record([record]))).toEqual(
    record.map(([number, bytes]) => {
      const of = bytes.subarray(2).toString();
      return [
        number,
        [
          [1, of],
          [2, `${kinds[number]} of ${of}`],
        ],
      ];
    }),
  );
});

describe('the parts of a record', () => {
  test('replace the fields of earlier ones and add others, in the order of field numbers', () => {
    const values = fc.array(fc.constantFrom(...'abcdef'), { minLength: 1, maxLength: 2 });
    const part = fc.dictionary(fc.constantFrom('1', '2', '3', '5', '15', '16', '40', '300'), values, { maxKeys: 6 });
    const numbers = fc.uniqueArray(fc.constantFrom<number[]>(1, 2, 15, 16, 40, 300), { maxLength: 3 });
    const plain = shapeOf(field(1, 'string'));
    const bytesOf = (fields: Record<string, string[]>): Wire =>
      Object.entries(fields).flatMap(([number, each]) => each.map((value) => [Number(number), Buffer.from(value)] as const));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), numbers, (parts, without) => {
        const out = new ByteBuffer(1);
        new Assembler(plain, out, { get: () => null }).record(
          parts.map((each) => wire(bytesOf(each))),
          new Set(without),
        );
        const kept = parts.map((each, index) => Object.fromEntries(Object.entries(each).filter(([number]) => index > 0 || !without.includes(Number(number)))));
        expect(out.view().equals(wire(bytesOf(Object.assign({}, ...kept) as Record<string, string[]>)))).toBe(true);
      }),
    );
  });

  test('get the latest names of their references, whichever part they are in', () => {
    const names = { 'accounts a': 'A', 'invoices i': 'I', 'tags t': 'T' };
    const named2 = (parts: readonly Wire[], without?: ReadonlySet<number>): unknown => read(visit, visits(names).record(parts, without));
    const all = [
      [1, 'text'],
      [
        2,
        [
          [1, 'a'],
          [2, 'A'],
        ],
      ],
      [
        3,
        [
          [1, 'i'],
          [2, 'I'],
        ],
      ],
      [
        16,
        [
          [1, 't'],
          [2, 'T'],
        ],
      ],
    ];
    const [account, invoice, tag]: Wire[number][] = [
      [2, named('a')],
      [3, named('i', 'old')],
      [16, named('t')],
    ] as never;
    expect(named2([[[1, text], account!, invoice!, tag!]])).toEqual(all);
    expect(
      named2([
        [[1, text], invoice!],
        [account!, tag!],
      ]),
    ).toEqual(all);
    expect(named2([[], [[1, text], [2, named('b')], invoice!], [account!, tag!]])).toEqual(all);
    expect(
      named2(
        [
          [[1, text], [2, named('b')], [3, named('b')], tag!],
          [account!, invoice!],
        ],
        new Set([2, 16]),
      ),
    ).toEqual(all.slice(0, 3));
    expect(named2([[[1, text]], [[1, Buffer.from('x')]]], new Set([1]))).toEqual([[1, 'x']]);
    expect(named2([])).toEqual([]);
  });
});
