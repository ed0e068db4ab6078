import { codec, type Field, type Operation } from '@truckroll/contract';
import { CSV_TYPE, compileCsv, csvColumns, type CsvForm } from '../src/http/csv.ts';
import { describeCsv } from '../src/openapi/csv.ts';
import { operation } from './support/operation.ts';

const collections = operation('GetCollectionsReport');

/** An operation whose rows have only the named columns of its records. */
function withColumns(name: string, columns: readonly string[], change: Partial<Field> = {}): Operation {
  const { response, ...rest } = operation(name);
  const data = response.byName.get('data') as Field;
  const fields = columns.map((column) => ({ ...(data.shape!.byName.get(column) as Field), ...change }));
  return { ...rest, response: { ...response, byName: new Map([['data', { ...data, shape: { ...data.shape!, fields } }]]) } };
}

/** The CSV of rows; fields of a row that are not given have their defaults. */
function csvOf(of: Operation, rows: readonly object[], next = '', form?: CsvForm): { text: string; next: string } {
  const response = codec(of.response.typeName);
  const empty = codec(of.response.byName.get('data')!.shape!.typeName).decode(new Uint8Array()) as object;
  const csv = compileCsv(of)(response.encode({ data: rows.map((row) => ({ ...empty, ...row })), next: Buffer.from(next), time_zone: '' }).finish(), form);
  return { text: csv.body.toString(), next: Buffer.from(csv.next).toString() };
}

const HEADER =
  'period_start,period_end,group_dimension,group_value,group_label,currency,payment_count,received_cents,refund_count,refunded_cents,net_collected_cents';

test('is announced in UTF-8 and with a header line', () => {
  expect(CSV_TYPE).toBe('text/csv; charset=utf-8; header=present');
});

test('has only its header line where there are no rows, and the position of the next page', () => {
  expect(csvOf(collections, [])).toEqual({ text: `${HEADER}\r\n`, next: '' });
  expect(csvOf(collections, [], 'position')).toEqual({ text: `${HEADER}\r\n`, next: 'position' });
});

test('has a line for each row in their order, with an empty cell for null', () => {
  const row = { period_start: '2026-01-01', period_end: '2026-02-01', currency: 'USD' };
  const group = { dimension: 'SUMMARY_DIMENSION_COLLECTOR', value: null, label: null };
  const rows = [
    { ...row, payment_count: 2, received_cents: 12_900, net_collected_cents: -5 },
    { ...row, group: { ...group, value: 'v', label: 'Núñez, "Ada"\nJr.' } },
    { ...row, group },
    { ...row, group: { ...group, value: '', label: '' } },
  ];
  expect(csvOf(collections, rows).text.split('\r\n')).toEqual([
    HEADER,
    '2026-01-01,2026-02-01,,,,"USD",2,12900,0,0,-5',
    '2026-01-01,2026-02-01,"collector","v","Núñez, ""Ada""\nJr.","USD",0,0,0,0,0',
    '2026-01-01,2026-02-01,"collector",,,"USD",0,0,0,0,0',
    '2026-01-01,2026-02-01,"collector","","","USD",0,0,0,0,0',
    '',
  ]);
});

test.each<[string, string, string, unknown, string]>([
  ['a uuid', 'ListInvoices', 'id', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e', '"0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e"'],
  ['an enumeration', 'ListInvoices', 'status', 'INVOICE_STATUS_OPEN', '"OPEN"'],
  ['an enumeration without a value', 'ListInvoices', 'status', 'INVOICE_STATUS_UNSPECIFIED', '""'],
  ['a text', 'ListInvoices', 'number', 'INV-1', '"INV-1"'],
  ['a time', 'ListInvoices', 'created_at', 1_000_001, '1970-01-01T00:00:01.000001Z'],
  ['a number', 'ListInvoices', 'pricing_multiplier', 1.25, '1.25'],
  ['a yes', 'ListAccounts', 'archived', true, 'true'],
  ['a no', 'ListAccounts', 'archived', false, 'false'],
])('writes %s of %s.%s = %j as %s', (_, name, column, value, cell) => {
  expect(csvOf(withColumns(name, [column]), [{ [column]: value }]).text).toBe(`${column}\r\n${cell}\r\n`);
});

test.each<[number | null, string]>([
  [0, '0.00'],
  [5, '0.05'],
  [-5, '-0.05'],
  [99, '0.99'],
  [-100, '-1.00'],
  [12_900, '129.00'],
  [-123_456, '-1234.56'],
  [Number.MAX_SAFE_INTEGER, '90071992547409.91'],
  [Number.MIN_SAFE_INTEGER, '-90071992547409.91'],
])('writes %j cents as %s in decimal, in a column that is not called cents', (received_cents, cell) => {
  expect(csvOf(withColumns('GetCollectionsReport', ['received_cents']), [{ received_cents }], '', { amounts: 'decimal' }).text).toBe(`received\r\n${cell}\r\n`);
});

test('writes counts, margins and empty cells in decimal as in cents', () => {
  const invoices = withColumns('GetInvoiceActivityReport', ['invoice_count', 'average_total_cents']);
  expect(csvOf(invoices, [{ invoice_count: 12, average_total_cents: null }], '', { amounts: 'decimal' }).text).toBe('invoice_count,average_total\r\n12,\r\n');
  const jobs = withColumns('GetJobProfitabilityReport', ['gross_profit_cents', 'gross_margin']);
  expect(csvOf(jobs, [{ gross_profit_cents: 250, gross_margin: 0.325 }], '', { amounts: 'decimal' }).text).toBe('gross_profit,gross_margin\r\n2.50,0.325\r\n');
});

test.each([...'=+-@＝＋－＠'].flatMap((sign) => ['', ' ', '  \t', '\n', '\u00a0'].map((space) => `${space}${sign}1`)).concat(['\tx', '\rx', '\nx', '=', '-']))(
  'puts an apostrophe before %j, which a spreadsheet could run as a formula',
  (text) => {
    expect(csvOf(withColumns('ListInvoices', ['number']), [{ number: text }]).text).toBe(`number\r\n"'${text}"\r\n`);
  },
);

test.each(['a=1', ' x', 'x\t', 'x;=1+1', "'=1", '1-2', '１', 'a\n=1', '', ' ', '(=1)', '.=1', ','])('leaves the text %j as it is', (text) => {
  expect(csvOf(withColumns('ListInvoices', ['number']), [{ number: text }]).text).toBe(`number\r\n"${text}"\r\n`);
});

test.each(['a\u2028b', 'a\u2029b', 'a\u0085b', 'a\u000bb', 'a\u000cb', 'a\rb', 'a\r\nb', '\uFEFFa', 'a\0b'])(
  'keeps the line separator or control character in %j',
  (text) => {
    expect(csvOf(withColumns('ListInvoices', ['number']), [{ number: text }]).text).toBe(`number\r\n"${text}"\r\n`);
  },
);

test.each<[CsvForm, string]>([
  [{ bom: 'true' }, '\uFEFF'],
  [{ bom: 'false' }, ''],
])('with %j begins with %j', (form, beginning) => {
  expect(csvOf(collections, [], '', form).text).toBe(`${beginning}${HEADER}\r\n`);
});

test('doubles every quotation mark within a text', () => {
  expect(csvOf(withColumns('ListInvoices', ['number']), [{ number: '"a" "b"' }]).text).toBe('number\r\n"""a"" ""b"""\r\n');
});

test('has a column for each value of an object, and for those of objects within', () => {
  const inner = withColumns('ListInvoices', ['number', 'status']).response.byName.get('data') as Field;
  const middle: Field = {
    ...inner,
    name: 'middle',
    repeated: false,
    kind: 'object',
    shape: { ...inner.shape!, fields: [{ ...inner, name: 'inner', repeated: false }] },
  };
  const { response, ...rest } = collections;
  const of = { ...rest, response: { ...response, byName: new Map([['data', { ...inner, shape: { ...inner.shape!, fields: [middle] } }]]) } };
  expect(csvColumns(of)).toEqual(['middle_inner_number', 'middle_inner_status']);
});

test.each([
  ['a list of values', () => withColumns('ListInvoices', ['number'], { repeated: true }), 'number has several values, a cell of a spreadsheet has one'],
  ['a list of objects', () => withColumns('ListInvoices', ['number'], { repeated: true, kind: 'object' }), 'number has several values'],
  ['a reference', () => withColumns('ListInvoices', ['account']), 'account is no cell of a spreadsheet'],
])('rejects rows with %s', (_, of, message) => {
  expect(() => csvColumns(of())).toThrow(message);
  expect(() => compileCsv(of())).toThrow(message);
});

test('is described with the names of its columns', () => {
  expect(describeCsv(collections)).toEqual({
    schema: {
      type: 'string',
      description: [
        'RFC 4180 in UTF-8: a line of column names, then one line for each row; text is quoted, null is an empty cell.',
        'A text that a spreadsheet would take for a formula has an apostrophe before it.',
        'The header `Link` leads to the next page, which has its own line of names.',
      ].join(' '),
      examples: [`${HEADER}\r\n`],
    },
  });
});
