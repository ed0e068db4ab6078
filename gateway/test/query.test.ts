import fc from 'fast-check';
import { formatInstant, operations } from '@truckroll/contract';
import { inputsOf } from '../src/routes/inputs.ts';
import { compileQuery, DEFAULT_LIMIT, MOST_PROBLEMS, type Query } from '../src/routes/query.ts';
import { operation } from './support/operation.ts';

const parser = (name: string): ((text: string) => Query) => compileQuery(inputsOf(operation(name)));
const parse = parser('ListInvoices');
const value = (query: Query, name: string): unknown => [...query.values].find(([parameter]) => parameter.name === name)?.[1];
const codes = (query: Query): string[] => query.problems.map(({ field, code }) => `${field} ${code}`);
const ID = '0B8F3C1E-7a52-4c6d-9e10-2f4a5b6c7d8e';

describe('a query', () => {
  test('that is empty requests the first 50 records', () => {
    expect(parse('')).toMatchObject({ limit: 50, cursor: undefined, filters: '', problems: [] });
    expect(parse('&&')).toMatchObject({ limit: 50, problems: [] });
  });

  test('accepts ids in any case and keeps distinct ones in lower case', () => {
    const query = parse(`ids=${ID}&ids=${ID.toLowerCase()}&ids=${ID.replace('0B', '1c')}`);
    expect(query.problems).toEqual([]);
    expect(value(query, 'ids')).toEqual([ID.toLowerCase(), ID.toLowerCase().replace('0b', '1c')]);
  });

  test('accepts percent-encoding in names and values', () => {
    const query = parse('%73tatus=%4FPEN&created_from=2026-03-01T15%3A04%3A05.123456%2B01%3A00');
    expect(query.problems).toEqual([]);
    expect(value(query, 'created_from')).toBe(Date.UTC(2026, 2, 1, 14, 4, 5) * 1000 + 123_456);
  });

  test('accepts bounds beyond the range of instants, also two on one side', () => {
    for (const text of [
      'created_from=9999-12-01T00:00:00Z&created_before=9999-12-31T00:00:00Z',
      'created_from=0001-01-01T00:00:00Z&created_before=0001-02-01T00:00:00Z',
      'created_from=0001-01-01T00:00:00Z&created_before=9999-12-31T00:00:00Z',
    ]) {
      expect(parse(text).problems).toEqual([]);
    }
    expect(parse('created_from=9999-12-01T00:00:00Z&created_before=0001-01-01T00:00:00Z').problems).toMatchObject([
      { field: 'created_before', code: 'RANGE_ORDER' },
    ]);
  });

  test.each([
    ['limit=0', 'limit OUT_OF_RANGE'],
    ['limit=101', 'limit OUT_OF_RANGE'],
    ['limit=-1', 'limit OUT_OF_RANGE'],
    ['limit=5.5', 'limit INVALID_FORMAT'],
    ['limit=ten', 'limit INVALID_FORMAT'],
    ['limit=1e1', 'limit INVALID_FORMAT'],
    ['limit=99999999999999999999', 'limit INVALID_FORMAT'],
    ['limit=', 'limit EMPTY_VALUE'],
    ['limit', 'limit EMPTY_VALUE'],
    ['limit=5&limit=5', 'limit REPEATED_PARAMETER'],
    ['cursor=', 'cursor EMPTY_VALUE'],
    ['cursor=a&cursor=b', 'cursor REPEATED_PARAMETER'],
    ['status=', 'status EMPTY_VALUE'],
    ['status=open', 'status INVALID_ENUM_VALUE'],
    ['status=null', 'status INVALID_ENUM_VALUE'],
    ['status=INVOICE_STATUS_OPEN', 'status INVALID_ENUM_VALUE'],
    ['status=OPEN,PAID', 'status INVALID_ENUM_VALUE'],
    ['job_class=null', 'job_class INVALID_ENUM_VALUE'],
    ['ids=1', 'ids INVALID_UUID'],
    [`ids=${ID},${ID}`, 'ids INVALID_UUID'],
    [`ids=%7B${ID}%7D`, 'ids INVALID_UUID'],
    ['created_from=2026-03-01', 'created_from INVALID_FORMAT'],
    ['created_from=2026-03-01T15:04Z', 'created_from INVALID_FORMAT'],
    ['created_from=2026-03-01T15:04:05', 'created_from INVALID_FORMAT'],
    ['created_from=2026-02-29T15:04:05Z', 'created_from INVALID_FORMAT'],
    ['created_from=1772377445', 'created_from INVALID_FORMAT'],
    ['created_from=2026-03-01T00:00:00Z&created_from=2026-03-01T00:00:00Z', 'created_from REPEATED_PARAMETER'],
    ['issued_from=2026-02-30', 'issued_from INVALID_FORMAT'],
    ['issued_from=2026-03-01T00:00:00Z', 'issued_from INVALID_FORMAT'],
    ['issued_from=null', 'issued_from INVALID_FORMAT'],
    ['issued_from=2026-03-01&issued_before=2026-03-01', 'issued_before RANGE_ORDER'],
    ['issued_from=2026-03-02&issued_before=2026-03-01', 'issued_before RANGE_ORDER'],
    ['created_from=2026-03-01T00:00:00.000001Z&created_before=2026-03-01T01:00:00.000001%2B01:00', 'created_before RANGE_ORDER'],
    ['status=%', 'status INVALID_FORMAT'],
    ['status=%ff', 'status INVALID_FORMAT'],
    ['%ff=1', '%ff INVALID_FORMAT'],
    ['Status=OPEN', 'Status UNKNOWN_PARAMETER'],
    ['ids[]=1', 'ids[] UNKNOWN_PARAMETER'],
    ['company_id=1', 'company_id UNKNOWN_PARAMETER'],
    ['time_zone=UTC', 'time_zone UNKNOWN_PARAMETER'],
    ['after=1', 'after UNKNOWN_PARAMETER'],
    ['collection=1', 'collection UNKNOWN_PARAMETER'],
    ['__proto__=1', '__proto__ UNKNOWN_PARAMETER'],
    ['=1', ' UNKNOWN_PARAMETER'],
    ['x=1&x=2', 'x UNKNOWN_PARAMETER'],
  ])('%s is rejected', (text, expected) => {
    expect(codes(parse(text))).toEqual([expected]);
  });

  test('of three values for a single one is one failure', () => {
    expect(codes(parse('limit=5&limit=6&limit=7'))).toEqual(['limit REPEATED_PARAMETER']);
  });

  test('compares only bounds of one field', () => {
    const estimates = parser('ListEstimates');
    expect(codes(estimates('sold_from=2026-03-02T00:00:00Z&created_before=2026-03-01T00:00:00Z'))).toEqual([]);
    expect(codes(estimates('sold_from=2026-03-02T00:00:00Z&sold_before=2026-03-01T00:00:00Z'))).toEqual(['sold_before RANGE_ORDER']);
  });

  test('sets the page size, which is no filter', () => {
    expect(parse('limit=7&status=OPEN')).toMatchObject({ limit: 7, problems: [] });
    expect(parse('limit=7')).toMatchObject({ limit: 7, filters: '' });
  });

  test('names an unknown parameter by its first 100 characters', () => {
    expect(parse(`${'x'.repeat(101)}=1`).problems[0]?.field).toBe('x'.repeat(100));
  });

  test('lists every failure at once', () => {
    expect(codes(parse('limit=0&stat=1&ids=x&ids=y&created_from=now&job_id='))).toEqual([
      'limit OUT_OF_RANGE',
      'stat UNKNOWN_PARAMETER',
      'ids INVALID_UUID',
      'ids INVALID_UUID',
      'created_from INVALID_FORMAT',
      'job_id EMPTY_VALUE',
    ]);
  });

  test('says how to fix a failure', () => {
    const messages = parse(`statsu=OPEN&created_from=2026-03-01T00:00:00+01:00&ids=${ID},${ID}`).problems.map(({ message }) => message);
    expect(messages[0]).toContain('Did you mean status?');
    expect(messages[1]).toContain('%2B');
    expect(messages[2]).toContain('ids=A&ids=B');
  });

  test('is not advised to repeat a parameter unless that helps', () => {
    const [id, date] = parse('ids=1&created_from=2026-03-01,2026-03-02').problems.map(({ message }) => message);
    expect(id).not.toContain('Repeat');
    expect(date).not.toContain('Repeat');
  });

  test('with an unknown name like no other gets the names that the operation takes, if any', () => {
    const hint = (query: Query): string | undefined => query.problems[0]?.message;
    expect(hint(parse('nothing=1'))).toMatch(/parameter\. It takes limit, ids, .*, job_class, missing, .*, cursor\.$/);
    expect(hint(parser('GetChangesDigest')('nothing=1'))).toMatch(/parameter\. It takes kinds, cursor, buckets\.$/);
    expect(hint(parser('GetInvoice')('nothing=1'))).toMatch(/parameter\.$/);
  });

  test('gets suggestions for its first three unknown names only, and for none of more than 32 characters', () => {
    const hints = (text: string): boolean[] => parse(text).problems.map(({ message }) => /Did you mean|It takes/.test(message));
    expect(hints('statsu=1&stauts=1&nothing=1&satus=1')).toEqual([true, true, true, false]);
    const close = `status${'_'.repeat(26)}`;
    expect(parse(`${close}=1&${close}_=1`).problems.map(({ message }) => message.includes('Did you mean status?'))).toEqual([true, false]);
  });

  test('may have at most 100 ids', () => {
    const ids = Array.from({ length: 101 }, (_, index) => `ids=0b8f3c1e-7a52-4c6d-9e10-${String(index).padStart(12, '0')}`);
    expect(codes(parse(ids.slice(0, 100).join('&')))).toEqual([]);
    expect(codes(parse(ids.join('&')))).toEqual(['ids OUT_OF_RANGE']);
  });

  test('of thousands of unknown names gets a short answer', () => {
    const rubbish = Array.from({ length: 5000 }, (_, index) => `p${index}=1`).join('&');
    expect(parse(rubbish).problems).toHaveLength(MOST_PROBLEMS);
  });

  test('of a detail accepts no parameter', () => {
    for (const text of ['limit=1', 'cursor=a', `ids=${ID}`]) expect(codes(parser('GetInvoice')(text))).toHaveLength(1);
  });

  test('on records without timestamps accepts no filter on them', () => {
    expect(codes(parser('ListRefunds')('updated_since=2026-03-01T00:00:00Z'))).toEqual(['updated_since UNKNOWN_PARAMETER']);
    const classes = parser('ListJobClasses');
    expect(codes(classes('created_from=2026-03-01T00:00:00Z'))).toEqual(['created_from UNKNOWN_PARAMETER']);
    expect(value(classes('ids=INSTALL'), 'ids')).toEqual(['INSTALL']);
    expect(codes(classes('ids=install'))).toEqual(['ids INVALID_ENUM_VALUE']);
  });
});

describe('the canonical text of the filters', () => {
  test('is the same for every spelling of equal filters, and different for different ones', () => {
    const statuses = fc.uniqueArray(fc.constantFrom('DRAFT', 'OPEN', 'PAID', 'VOIDED'), { minLength: 0 });
    const instant = fc.option(fc.integer({ min: 0, max: 4_000_000_000_000_000 }), { nil: undefined });
    const filters = fc.record({ statuses, from: instant, page: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }) });
    type Filters = { statuses: string[]; from: number | undefined; page: number | undefined };
    const pieces = ({ statuses: chosen, from, page }: Filters, offset: boolean): string[] => [
      ...chosen.map((status) => `status=${status}`),
      ...(from === undefined ? [] : [`created_from=${offset ? shifted(from) : formatInstant(from)}`]),
      ...(page === undefined ? [] : [`limit=${page}`]),
    ];
    fc.assert(
      fc.property(filters, filters, fc.boolean(), (one, other, repeat) => {
        const text = parse(pieces(one, false).join('&')).filters;
        const again = pieces({ ...one, page: undefined }, true).toReversed();
        expect(parse([...again, ...(repeat ? again.filter((piece) => piece.startsWith('status')) : [])].join('&')).filters).toBe(text);
        const equal = one.from === other.from && one.statuses.toSorted().join() === other.statuses.toSorted().join();
        expect(parse(pieces(other, false).join('&')).filters === text).toBe(equal);
      }),
    );
  });
});

/** The same instant, written with an offset. */
function shifted(micros: number): string {
  return formatInstant(micros + 5.5 * 3_600_000_000).replace('Z', '%2B05:30');
}

describe('the query of a report', () => {
  const report = parser('GetInvoiceActivityReport');
  const RANGE = 'start_date=2026-01-01&end_date=2026-04-01';
  const defaulted = (query: Query): string[] => Array.from(query.defaulted, ({ name }) => name);

  test('must have the range', () => {
    expect(codes(report(''))).toEqual(['start_date MISSING', 'end_date MISSING']);
    expect(codes(report('end_date=2026-04-01'))).toEqual(['start_date MISSING']);
    expect(codes(report('start_date=&end_date=2026-04-01'))).toEqual(['start_date EMPTY_VALUE']);
    expect(codes(report(RANGE))).toEqual([]);
  });

  test('has the default of every parameter that it leaves out, and says which those are', () => {
    const query = report(RANGE);
    expect(defaulted(query)).toEqual(['bucket', 'status']);
    expect([value(query, 'bucket'), value(query, 'status')]).toEqual(['BUCKET_MONTH', ['INVOICE_STATUS_OPEN', 'INVOICE_STATUS_PAID']]);
    expect(value(query, 'account_id')).toBeUndefined();
  });

  test('keeps what it gives', () => {
    const query = report(`${RANGE}&bucket=week&status=VOIDED`);
    expect(defaulted(query)).toEqual([]);
    expect([value(query, 'bucket'), value(query, 'status')]).toEqual(['BUCKET_WEEK', ['INVOICE_STATUS_VOIDED']]);
  });

  test('has the same canonical text with a default left out and given', () => {
    expect(report(`${RANGE}&bucket=month&status=PAID&status=OPEN`).filters).toBe(report(RANGE).filters);
    expect(report(`${RANGE}&bucket=week`).filters).not.toBe(report(RANGE).filters);
  });

  test.each<[string, object, string[]]>([
    ['', {}, []],
    ['&amounts=cents', { amounts: 'cents' }, []],
    ['&amounts=decimal&bom=true', { amounts: 'decimal', bom: 'true' }, []],
    ['&bom=false', { bom: 'false' }, []],
    ['&amounts=', {}, ['amounts EMPTY_VALUE']],
    ['&amounts=dollars', {}, ['amounts INVALID_ENUM_VALUE']],
    ['&bom=1&amounts=true', {}, ['bom INVALID_ENUM_VALUE', 'amounts INVALID_ENUM_VALUE']],
    ['&amounts=cents&amounts=decimal', { amounts: 'cents' }, ['amounts REPEATED_PARAMETER']],
  ])('with %j has the form of CSV %j, the problems %j, and the same canonical text', (text, form, problems) => {
    const query = report(`${RANGE}${text}`);
    expect([query.csv, query.cursor, codes(query), query.filters]).toEqual([form, undefined, problems, report(RANGE).filters]);
  });

  test('may have at most 10,000 periods', () => {
    expect(codes(report('start_date=2000-01-01&end_date=2100-01-01&bucket=day'))).toEqual(['end_date OUT_OF_RANGE']);
  });
});

describe('a parser', () => {
  test('reads the same from parameters in any order', () => {
    for (const [name, text] of [
      ['ListInvoices', `limit=7&status=OPEN&ids=${ID}&created_from=2026-03-01T00:00:00Z&issued_before=2026-03-01`],
      ['GetCollectionsReport', 'start_date=2000-01-01&end_date=2100-01-01&bucket=day&limit=7'],
    ] as const) {
      const inputs = inputsOf(operation(name));
      const [query, reversed] = [inputs.query, inputs.query.toReversed()].map((parameters) => compileQuery({ ...inputs, query: parameters })(text));
      expect(reversed).toMatchObject({ limit: 7, filters: query!.filters, problems: query!.problems });
    }
  });

  test('leaves a limit that is not of a list to the operation', () => {
    const changes = parser('ListChanges');
    expect(value(changes('limit=3'), 'limit')).toBe(3);
    expect(value(changes(''), 'limit')).toBe(100);
    expect(changes('limit=3').limit).toBe(DEFAULT_LIMIT);
  });

  test('is refused for a default that the parameter does not accept', () => {
    const inputs = inputsOf(operation('GetCollectionsReport'));
    const query = inputs.query.map((parameter) =>
      parameter.name === 'bucket' ? { ...parameter, field: { ...parameter.field, defaults: ['hour'] } } : parameter,
    );
    expect(() => compileQuery({ ...inputs, query })).toThrow('the default hour of bucket is none of its values');
  });
});

describe('every operation', () => {
  test('rejects unknown parameters, and never fails on any text', () => {
    for (const candidate of operations) {
      const anyQuery = compileQuery(inputsOf(candidate));
      expect(codes(anyQuery('no_such_thing=1')).at(0)).toBe('no_such_thing UNKNOWN_PARAMETER');
      fc.assert(
        fc.property(fc.webQueryParameters(), (text) => void anyQuery(text)),
        { numRuns: 20 },
      );
      fc.assert(
        fc.property(fc.string(), (text) => void anyQuery(text)),
        { numRuns: 20 },
      );
    }
  });
});
