import { isTooDeep, mayHideProblems, problemsOfJsonText } from '../src/json-text.ts';
import { field, shape } from './fields.ts';

const item = shape(field('position', 'integer'), field('name', 'string'));
const invoice = shape(
  field('number', 'string'),
  field('total_cents', 'cents'),
  field('days_past_due', 'integer', { derived: true }),
  field('rate', 'number'),
  field('counts', 'integer', { repeated: true }),
  field('tax', 'object', { shape: shape(field('cents', 'cents')) }),
  field('items', 'object', { repeated: true, shape: item }),
  field('filter', 'json'),
  field('fees', 'list', { shape: shape(field('values', 'object', { repeated: true, shape: item })) }),
);

const problems = (text: string): string[] => problemsOfJsonText(invoice, text, JSON.parse(text)).map(({ field, message }) => `${field}: ${message}`);
const twice = (path: string): string => `${path}: Give it once: it is given twice.`;
const lost = (path: string): string => `${path}: Give an integer.`;

describe('a key that is given twice', () => {
  test.each([
    ['{"number":"1","number":"2"}', ['number']],
    ['{"number":"1","number":"1","number":"1"}', ['number', 'number']],
    ['{"tax":{"cents":1,"cents":1}}', ['tax.cents']],
    ['{"items":[{"name":"a"},{"name":"b","name":"c"}]}', ['items[1].name']],
    ['{"fees":[{"name":"a","name":"b"}],"x":[[],[{"y":1,"y":2}]]}', ['fees[0].name', 'x[1][0].y']],
    ['{"number":"1","n\\u0075mber":"2"}', ['number']],
    ['{"unknown":{"":1,"":2}}', ['unknown.']],
    ['{"items":[],"tax":{},"tax":{}}', ['tax']],
    ['{"number":"1","a":{"b":1},"number":"2","a":[{}]}', ['number', 'a']],
  ])('in %s is found', (text, paths) => {
    expect(problems(text)).toEqual(paths.map(twice));
  });

  test.each([' ', '  ', '\t', '\n', '\r', '\r\n\t '])('is found between white space %j', (space) => {
    const spaced = (text: string): string => text.replaceAll(' ', space);
    expect(problems(spaced(' { "number" : "1" , "number" : "2" , "items" : [ ] , "tax" : { } , "tax" : { "cents" : 1 } } '))).toEqual([
      twice('number'),
      twice('tax'),
    ]);
    expect(problems(spaced('{"number" :"1","number":"2"}'))).toEqual([twice('number')]);
    expect(problems(spaced('{"items":[ {"name":"a"} , {"name":"b","name":"c"} ]}'))).toEqual([twice('items[1].name')]);
    expect(problems(spaced('{"tax":{"cents":1 },"tax":{}}'))).toEqual([twice('tax')]);
  });

  test('is not the same key of another object', () => {
    expect(problems('{"name":"x","items":[{"name":"a"},{"name":"b"}],"tax":{"name":"x", "tax" :1}}')).toEqual([]);
  });

  test.each(['"number":', '"number" :', '\\"number":', 'a":\\', '{"number":1}', '\\', '\\\\', '"'])('is not the text %j of a string', (content) => {
    const text = JSON.stringify(content);
    expect(problems(`{"name":${text},"number":"1"}`)).toEqual([]);
    expect(problems(`{"name":${text},"number":"1","number":${text}}`)).toEqual([twice('number')]);
    expect(problems(`{${text}:1,"number":"1",${text}:2}`)).toEqual([twice(content)]);
  });
});

test('finds the fields of texts in camel case', () => {
  const text = '{"totalCents":1e-400,"total_cents":1e-400,"tax":{"cents":1,"cents":1e-400}}';
  const found = problemsOfJsonText(invoice, text, JSON.parse(text), 'camel');
  expect(found.map(({ field, code }) => `${field} ${code}`)).toEqual(['totalCents INVALID_FORMAT', 'tax.cents UNKNOWN_FIELD', 'tax.cents INVALID_FORMAT']);
});

describe('an integer field', () => {
  const inEach = (literal: string): string[] =>
    problems(
      `{"total_cents":${literal},"tax":{"cents":${literal} },"counts":[${literal},${literal}],"fees":[{"position":${literal}}],"items":[{"position":${literal}\n}]}`,
    );

  test.each([
    '100.00000000000000001',
    '-100.00000000000000001',
    '99.99999999999999999',
    '9007199254740991.4',
    '1e-400',
    '-1E-400',
    '0.1e-400',
    '1.00000000000000001e0',
    '12345678900000000000000000001e-20',
  ])('refuses %s, which a double rounds to an integer', (literal) => {
    expect(inEach(literal)).toEqual(['total_cents', 'tax.cents', 'counts[0]', 'counts[1]', 'fees[0].position', 'items[0].position'].map(lost));
  });

  test('refuses a very long 1e-400', () => {
    expect(problems(`{"total_cents":1${'0'.repeat(400)}e-800}`)).toEqual([lost('total_cents')]);
  });

  test.each(['100', '-100', '0', '100.0000000', '-0.0000000', '1e3', '1E+3', '1.5e1', '150e-1', '1.50e1', '0e-5', '0.0e5', '10000000000.0', '120.00e-1'])(
    'accepts %s',
    (literal) => {
      expect(inEach(literal)).toEqual([]);
    },
  );

  test.each(['1.5', '15e-1', '0.0000001', '1e400', '9007199254740993.4', 'null', 'true', 'false', '"1e-400"'])(
    'leaves %s, which a double shows not to be an integer, to the reader',
    (literal) => {
      expect(inEach(literal)).toEqual([]);
    },
  );
});

test('lets derived fields, other numbers and unknown fields have a fraction that a double loses', () => {
  expect(problems('{"days_past_due":1e-400,"rate":1.00000000000000000001,"number":1e-400,"unknown":1e-400,"tax":{"position":1e-400}}')).toEqual([]);
});

describe('a number too large for a double', () => {
  test.each(['1e400', '-1e400', '1.5E400', '2'.repeat(309)])('in a value of any form, such as %s, is found', (literal) => {
    const found = problemsOfJsonText(invoice, `{"filter":{"a":${literal},"b":[{"c":[1,${literal}]}]}}`, { filter: { a: 1, b: [{ c: [1, 1] }] } });
    const [code, message] = ['OUT_OF_RANGE', 'Give a smaller number: this one is too large for a double.'];
    expect(found).toEqual(['filter.a', 'filter.b[0].c[1]'].map((place) => ({ field: place, code, message })));
  });

  test('is left to the reader elsewhere, as are others that are large, and texts', () => {
    expect(problems('{"filter":{"a":1e308,"1e400":"1e400"},"rate":1e400,"unknown":1e400,"x":{"y":1e400}}')).toEqual([]);
  });
});

test('reports problems of both kinds in the order of the text', () => {
  expect(problems('{"total_cents":1e-400,"items":[{"position":1e-400,"position":2}],"total_cents":1}')).toEqual([
    lost('total_cents'),
    lost('items[0].position'),
    twice('items[0].position'),
    twice('total_cents'),
  ]);
});

describe('nesting', () => {
  const tooDeep = '(line): Nest no deeper than 32 lists and objects.';
  const lists = (depth: number): string => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  const objects = (depth: number): string => `${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const mixed = (depth: number): string => `${'{"x":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`;

  test('may be 32 deep', () => {
    for (const text of [lists(32), objects(32), mixed(32)]) expect([problems(text), isTooDeep(JSON.parse(text))]).toEqual([[], false]);
    expect(problems(`{"a" :1,"b":[${Array.from({ length: 70 }, () => lists(30)).join()}]}`)).toEqual([]);
  });

  test.each([33, 34, 100_000])('must not be %i deep', (depth) => {
    for (const text of [lists(depth), objects(depth)]) expect([problems(text), isTooDeep(JSON.parse(text))]).toEqual([[tooDeep], true]);
  });

  test('that is too deep ends the search', () => {
    expect(problems(`{"number":"1","number":"2","x":${lists(33)},"tax":{},"tax":{}}`)).toEqual([twice('number'), tooDeep]);
  });
});

describe('the cheap check', () => {
  const walked = (text: string): boolean => mayHideProblems(text, JSON.parse(text));

  test.each([
    '{}',
    '{"a":1}',
    '{"a":null,"b":true,"c":"x","d":{"e":[],"f":[{"g":1},{"g":2}]},"h":[[1],[2,{"i":3}]]}',
    '{"a": 1, "b": [ 2 ]}',
    '{"a":1.5}',
    '{"a":1.00000}',
    '{"a":1.99999,"b":1.090909090909}',
    '{"a":123456789.5}',
    `{"a":${'1'.repeat(308)}}`,
    '{"a":12345678901}',
    '{"a":"1e5 and 1.0000001"}',
    '{"a":["-1e5"]}',
  ])('finds nothing doubtful in %s', (text) => {
    expect(walked(text)).toBe(false);
  });

  test.each([
    '{"a":1,"a":1}',
    '{"a" :1}',
    '{"a":"b\\":"}',
    '{"a":1e5}',
    '{"a":12E5}',
    '{"a":-1e5}',
    '{"a": 1e5}',
    '{"a":\n\t 1e5}',
    '{"a":[1e5]}',
    '{"a":[1,1e5]}',
    '{"a":1.25e5}',
    '{"a":1234567890.5}',
    `{"a":${'1'.repeat(309)}}`,
    '{"a":12345678901.5}',
    '{"a":1.000000}',
    '{"a":12.999999}',
  ])('asks for a walk of %s', (text) => {
    expect(walked(text)).toBe(true);
  });
});
