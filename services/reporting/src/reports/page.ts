// Ungrouped, a page has `limit` periods, including empty ones. Grouped, it has `limit` groups with data, over as many periods as
// that takes. If each period is one day or month of kept sums that is not due, groups are read by walking along the key; otherwise by
// portions of periods that grow until the page is full.
import { ApiError, civil, parseDate, type BucketName } from '@truckroll/contract';
import type { Queryable, Statement } from '@truckroll/postgres';
import { measuresOf } from '../facts/definitions.ts';
import { nearestDay } from '../sums/nearest.ts';
import type { SumStep } from '../sums/statements.ts';
import { dateOf, partsOf, periodsOf, type Period } from './periods.ts';
import { keyedStatement, readSums, walkStatement, type Position, type Sums } from './read.ts';
import { pairOf, sumsFor, type ReportQuestion } from './sources.ts';

export interface PageRequest {
  range: Period;
  bucket: BucketName;
  limit: number;
  after: Uint8Array;
}

export interface ReportPage {
  rows: { period: Period; sums: Sums }[];
  /** Position of the last row; empty on the last page. */
  next: Uint8Array;
}

export async function readPage(db: Queryable, question: ReportQuestion, request: PageRequest): Promise<ReportPage> {
  const after = decode(request.after);
  return question.groupBy === null ? await ungrouped(db, question, request, after) : await grouped(db, question, request, after);
}

async function ungrouped(db: Queryable, question: ReportQuestion, { range, bucket, limit }: PageRequest, after: Position | undefined): Promise<ReportPage> {
  const periods: Period[] = [];
  for (const period of periodsOf(range, bucket, after === undefined ? range.start : dayOf(after.start))) {
    // The cursor's period was the last of the previous page.
    if (after === undefined || dateOf(period.start) !== after.start) periods.push(period);
    if (periods.length > limit) break;
  }
  const page = periods.slice(0, limit);
  const empty = measuresOf(question.summary).map(() => 0n);
  const read = question.standings.length > 0 && page.length > 0;
  const found = read ? await readSums(db, statementOf(question, page)) : [];
  const byStart = new Map(found.map((sums) => [sums.start, sums]));
  const rows = page.map((period) => {
    const start = dateOf(period.start);
    return { period, sums: byStart.get(start) ?? { start, value: '', measures: empty } };
  });
  return { rows, next: periods.length > limit ? encode({ start: dateOf((page.at(-1) as Period).start), value: '' }) : new Uint8Array() };
}

/** The first date that both PostgreSQL and the calendar support. No record is as old. */
const FIRST_DAY = dayOf('0001-01-01');

/** Statement for consecutive ungrouped periods: a walk along the key if each is one day or one month of kept sums that is not due. */
function statementOf(question: ReportQuestion, page: readonly Period[]): Statement {
  const [first, last] = [page[0], page.at(-1)] as [Period, Period];
  const step = sumsFor(question) === 'sums' && question.filters.size === 0 ? stepOf(first) : undefined;
  const walked = step !== undefined && page.every((period) => stepOf(period) === step) && question.due.next(step, first.start, last.end) === last.end;
  if (!walked) return keyedStatement(question, page, '', undefined);
  return walkStatement(question, step, { start: dateOf(Math.max(first.start - 1, FIRST_DAY)), value: '' }, dateOf(last.end), page.length);
}

async function grouped(db: Queryable, question: ReportQuestion, { range, bucket, limit }: PageRequest, after: Position | undefined): Promise<ReportPage> {
  // For a single walk or a short range, finding where data begins and ends is not worth a query.
  const known = walks(question, bucket) || range.end - range.start <= SHORT;
  const extent = question.standings.length === 0 ? undefined : known ? range : await extentOf(db, question);
  const rows: ReportPage['rows'] = [];
  if (extent !== undefined) {
    for await (const row of groups(db, question, { range, bucket, wanted: limit + 1, extent }, after)) {
      rows.push(row);
      if (rows.length > limit) break;
    }
  }
  const last = rows[limit - 1]?.sums;
  return { rows: rows.slice(0, limit), next: rows.length > limit && last !== undefined ? encode(last) : new Uint8Array() };
}

interface Search {
  range: Period;
  bucket: BucketName;
  wanted: number;
  extent: Period;
}

/** Maximum days of a range that is read without knowing where data begins and ends. */
const SHORT = 731;
/** Stretches of due days beyond which nothing is walked: each would begin another statement. */
const MOST_STRETCHES = 8;
/** Periods per statement, at first and at most. */
const FIRST_PORTION = 4;
const MOST_PORTION = 1024;

async function* groups(db: Queryable, question: ReportQuestion, search: Search, after: Position | undefined): AsyncGenerator<ReportPage['rows'][number]> {
  const { range, bucket, wanted, extent } = search;
  const scattered = question.due.stretches(range.start, range.end).length > MOST_STRETCHES;
  const walked = (period: Period): SumStep | undefined => {
    const step = stepOf(period);
    return step !== undefined && walks(question, step) && !scattered && question.due.next(step, period.start, period.end) > period.start ? step : undefined;
  };
  let portion: Period[] = [];
  let size = FIRST_PORTION;
  let from = after?.value ?? '';
  const flush = async (): Promise<ReportPage['rows']> => {
    if (portion.length === 0) return [];
    const [periods, value] = [portion, from];
    [portion, from] = [[], ''];
    size = Math.min(size * 4, MOST_PORTION);
    const byStart = new Map(periods.map((period) => [dateOf(period.start), period]));
    const found = await readSums(db, keyedStatement(question, periods, value, wanted));
    return found.map((sums) => ({ period: byStart.get(sums.start) as Period, sums }));
  };
  let all = periodsOf(range, bucket, after === undefined ? range.start : dayOf(after.start));
  for (let next = all.next(); !next.done; ) {
    const period = next.value;
    if (period.end <= extent.start || period.start >= extent.end) {
      // In a period without data nothing follows the cursor.
      if (portion.length === 0) from = '';
      if (period.start >= extent.end) break;
      next = all.next();
      continue;
    }
    const step = walked(period);
    if (step === undefined) {
      portion.push(period);
      next = all.next();
      if (portion.length >= size) yield* await flush();
      continue;
    }
    yield* await flush();
    const end = question.due.next(step, period.start, stretchEnd(period, step, bucket, range));
    const at: Position = { start: dateOf(period.start), value: from };
    // The caller reads no further than `wanted`, so one statement is enough.
    const found = await readSums(db, walkStatement(question, step, at, dateOf(Math.min(end, extent.end)), wanted));
    let current: { start: string; period: Period } | undefined;
    for (const sums of found) {
      if (current?.start !== sums.start) current = { start: sums.start, period: whole(sums.start, step) };
      yield { period: current.period, sums };
    }
    from = '';
    all = periodsOf(range, bucket, end);
    next = all.next();
  }
  yield* await flush();
}

/** Whether groups by day or month can be read by walking along a key of kept sums. */
function walks(question: ReportQuestion, bucket: BucketName): boolean {
  const single = sumsFor(question) === 'sums' && !question.filters.has(question.groupBy as string);
  return bucket === 'month' ? single || pairOf(question) !== undefined : bucket === 'day' && single;
}

/** End of the run of similar periods: single days, or whole months. */
function stretchEnd(period: Period, step: SumStep, bucket: BucketName, { end }: Period): number {
  if (bucket !== step) return period.end;
  return step === 'day' ? end : end - civil(end)[2] + 1;
}

function whole(start: string, step: SumStep): Period {
  return periodsOf({ start: dayOf(start), end: Infinity }, step).next().value as Period;
}

/** Undefined if no single kept sum covers exactly this period. */
function stepOf(period: Period): SumStep | undefined {
  if (period.end - period.start === 1) return 'day';
  const { months, days } = partsOf(period);
  return months.length === 1 && days.length === 0 ? 'month' : undefined;
}

/** The days from the first fact or sum to the last. */
async function extentOf(db: Queryable, question: ReportQuestion): Promise<Period | undefined> {
  const [start, last] = await Promise.all([nearestDay(db, question, 'from', -Infinity), nearestDay(db, question, 'before', Infinity)]);
  return start === undefined || last === undefined ? undefined : { start, end: last + 1 };
}

export function dayOf(date: string): number {
  const day = parseDate(date);
  if (day === undefined) throw ApiError.internal(new Error(`${date} is not a date`));
  return day;
}

function encode({ start, value }: Position): Uint8Array {
  return Buffer.from(`${start} ${value}`);
}

/** The bytes need no check: the gateway sealed them. */
function decode(bytes: Uint8Array): Position | undefined {
  if (bytes.length === 0) return undefined;
  const text = Buffer.from(bytes).toString();
  return { start: text.slice(0, 10), value: text.slice(11) };
}
