import { problemsOfJsonText, resource } from '../src/index.ts';

const { record: invoice } = resource('invoices');
const problems = (text: string): string[] => problemsOfJsonText(invoice, text, JSON.parse(text)).map(({ field, message }) => `${field}: ${message}`);

test('a duplicate key is reported by its path, even if it is escaped differently', () => {
  expect(problems('{"id":"a","number":"1","amounts":{"tax_cents":1,"tax_cents":1}}')).toEqual([
    'amounts.tax_cents: Give it once: its object has this key twice.',
  ]);
  expect(problems('{ "line_items" : [ {"id":1}, {"id" : 1, "\\u0069d":2} ] , "tax":{}, "tax":{} }')).toEqual([
    'line_items[1].id: Give it once: its object has this key twice.',
    'tax: Give it once: its object has this key twice.',
  ]);
});

test('the same key in two objects, and text in a string that looks like a key, are no duplicates', () => {
  expect(problems('{"number":"a\\":\\\\","name":"\\"number\\":","line_items":[{"id":"1"},{"id":"2"}],"tax":{"name":"x"}}')).toEqual([]);
});

test('an integer field refuses a fraction that a double loses, but accepts other spellings of an integer', () => {
  const lost = 'Give an integer.';
  expect(problems('{"amounts":{"total_cents":100.00000000000000001,"tax_cents":9007199254740991.4},"line_items":[{"position":1e-400}]}')).toEqual([
    `amounts.total_cents: ${lost}`,
    `amounts.tax_cents: ${lost}`,
    `line_items[0].position: ${lost}`,
  ]);
  expect(
    problems('{"amounts":{"total_cents":100.0000000,"tax_cents":1.5e1,"paid_cents":0.00000000000000000000001},"pricing_multiplier":1.00000000000000000001}'),
  ).toEqual([]);
});

test('a line that is nested deeper than any record is refused without a stack overflow', () => {
  const deep = 100_000;
  expect(problems(`{"payment_applications":${'['.repeat(deep)}${']'.repeat(deep)}}`)).toEqual(['(line): Nest no deeper than 64 lists and objects.']);
});
