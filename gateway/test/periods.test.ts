import { operations, type Operation } from '@truckroll/contract';
import { inputsOf, type Value } from '../src/routes/inputs.ts';
import { compilePeriods } from '../src/routes/periods.ts';

const { query } = inputsOf(operations.find(({ name }) => name === 'GetCollectionsReport') as Operation);
const parameter = (name: string) => query.find((each) => each.name === name)!;
const range = { from: parameter('start_date'), before: parameter('end_date') };
const check = compilePeriods(query, [range])!;

function problemOf(start: string | undefined, end: string | undefined, bucket: string | undefined) {
  const given = { start_date: start, end_date: end, bucket: bucket === undefined ? undefined : `BUCKET_${bucket}` };
  return check(
    new Map(Object.entries(given).flatMap(([name, value]): [ReturnType<typeof parameter>, Value][] => (value === undefined ? [] : [[parameter(name), value]]))),
  );
}

test.each([
  ['2000-01-01', '2027-05-19', 'DAY'],
  ['2000-01-01', '2100-01-01', 'WEEK'],
  ['0001-01-01', '0834-05-01', 'MONTH'],
  ['0001-01-01', '9999-12-31', 'YEAR'],
])('accepts at most 10,000 periods: from %s to before %s by %s', (start, end, bucket) => {
  expect(problemOf(start, end, bucket)).toBeUndefined();
});

test.each([
  ['2000-01-01', '2027-05-20', 'DAY', 'week'],
  ['2000-01-03', '2191-08-29', 'DAY', 'week'],
  ['2000-01-01', '2200-01-01', 'WEEK', 'month'],
  ['0001-01-01', '0834-05-02', 'MONTH', 'quarter'],
  ['0001-01-01', '9999-12-31', 'DAY', 'year'],
])('rejects more than 10,000 periods: from %s to before %s by %s, and suggests %s as the finest bucket with at most 10,000', (start, end, bucket, coarser) => {
  expect(problemOf(start, end, bucket)).toMatchObject({
    location: 'query',
    field: 'end_date',
    code: 'OUT_OF_RANGE',
    message: expect.stringContaining(`bucket=${coarser}.`),
  });
});

test.each([
  ['start', undefined, '9999-12-31', 'DAY'],
  ['end', '0001-01-01', undefined, 'DAY'],
  ['bucket', '0001-01-01', '9999-12-31', undefined],
])('reports nothing if the %s could not be read, because that is reported already', (_, start, end, bucket) => {
  expect(problemOf(start, end, bucket)).toBeUndefined();
});

test('compiles no check if no bucket divides the range, or if there is no range', () => {
  expect(compilePeriods([range.from, range.before], [range])).toBeUndefined();
  expect(compilePeriods(query, [])).toBeUndefined();
});
