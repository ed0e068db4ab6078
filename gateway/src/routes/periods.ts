// Limits the periods of a report to about what a person or a spreadsheet can handle (decisions §13).
import { BUCKETS, countPeriods, parseDate, type BucketName, type ErrorDetail, type Parameter } from '@truckroll/contract';
import type { Value } from './inputs.ts';

const MOST_PERIODS = 10_000;

export interface RangePair {
  from: Parameter;
  before: Parameter;
}

type PeriodsCheck = (values: ReadonlyMap<Parameter, Value | Value[]>) => ErrorDetail | undefined;

/** Returns the check for operations that divide their range into buckets; undefined for all others. */
export function compilePeriods(parameters: readonly Parameter[], ranges: readonly RangePair[]): PeriodsCheck | undefined {
  const bucket = parameters.find(({ field }) => field.enum?.typeName === 'truckroll.reporting.v1.Bucket');
  const [range] = ranges;
  if (bucket === undefined || range === undefined) return undefined;
  return (values) => {
    const [start, end] = [range.from, range.before].map((parameter) => parseDate(String(values.get(parameter))));
    const name = bucket.field.enum?.spellings.get(String(values.get(bucket))) as BucketName | undefined;
    if (start === undefined || end === undefined || name === undefined || countPeriods(start, end, name) <= MOST_PERIODS) return undefined;
    const coarser = BUCKETS.find((candidate) => countPeriods(start, end, candidate) <= MOST_PERIODS);
    const message = `The range has more than ${MOST_PERIODS} periods: give an earlier date, or ${bucket.name}=${coarser}.`;
    return { location: 'query', field: range.before.name, code: 'OUT_OF_RANGE', message };
  };
}
