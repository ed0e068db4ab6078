// The periods into which a report divides its range (decisions §2).
import { civil } from './time.ts';

export const BUCKETS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type BucketName = (typeof BUCKETS)[number];

/** 1970-01-01 was a Thursday; weeks start on Monday. */
const THURSDAY = 3;

/** Number of the period that contains a day, in days since 1970-01-01. Numbers of adjacent periods differ by one. */
export function periodNumber(day: number, bucket: BucketName): number {
  if (bucket === 'day') return day;
  if (bucket === 'week') return Math.floor((day + THURSDAY) / 7);
  const [year, month] = civil(day);
  const months = { month: 1, quarter: 3, year: 12 }[bucket];
  return Math.floor((year * 12 + month - 1) / months);
}

/** Number of periods from `start` up to but excluding `end`, both in days since 1970-01-01. */
export function countPeriods(start: number, end: number, bucket: BucketName): number {
  return end <= start ? 0 : periodNumber(end - 1, bucket) - periodNumber(start, bucket) + 1;
}
