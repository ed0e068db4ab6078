// Compares report pages by the product's statements and by plain SQL, alternating on one connection.
import { DEFINITIONS, dateOf, readPage, type ReportPage, type ReportQuestion, type SummaryDefinition } from '@truckroll/reporting/reports';
import { parseDate } from '@truckroll/contract';
import { Problem, say } from '@truckroll/local-stack';
import type { Transaction } from '@truckroll/postgres';
import { alternate, timed } from '../measure/latency.ts';
import { median } from '../measure/rounds.ts';
import { TIMEZONE, YEARS, idOf } from './company.ts';
import { rawStatement, type Asked } from './raw.ts';

/** Pages from sums for each plain SQL statement, which takes a hundred times as long. */
const PAGES_EACH = 20;
/** Default page size of the API. */
const PAGE = 50;
const YEAR = { start: '2024-01-01', end: '2025-01-01' };

export interface Case {
  readonly name: string;
  readonly question: ReportQuestion;
  readonly asked: Asked;
}

const STANDINGS: Readonly<Record<SummaryDefinition['name'], readonly string[]>> = {
  invoice: ['OPEN', 'PAID'],
  collection: [''],
  job: ['included_unverified', 'included_verified'],
  participation: ['included_unverified', 'included_verified'],
};

const VALUES: Readonly<Record<string, string>> = {
  business_unit: idOf('unit', 11),
  job_type: idOf('type', 39),
  job_class: 'SERVICE',
  payment_method: 'CARD',
  collector: idOf('member', 59),
  team_member: idOf('member', 59),
};

export function casesOf(figure: string, base: { companyId: string; generation: number }): Case[] {
  const ask = (summary: SummaryDefinition, groupBy: string | null, filter: string | null, asked: Asked): Case => ({
    name: `${summary.name}${filter === null ? '' : ` of one ${filter}`}${groupBy === null ? '' : ` by ${groupBy}`}`,
    question: {
      ...base,
      summary,
      groupBy,
      timeZone: TIMEZONE,
      standings: STANDINGS[summary.name],
      filters: new Map(filter === null ? [] : [[filter, [VALUES[filter] as string]]]),
    },
    asked,
  });
  const byMonth: Asked = { ...YEAR, bucket: 'month', limit: PAGE };
  const byDay: Asked = { ...YEARS, bucket: 'day', limit: PAGE };
  switch (figure) {
    case 'year_by_month':
      return DEFINITIONS.filter(({ whole }) => whole).map((summary) => ask(summary, null, null, byMonth));
    case 'year_by_month_grouped':
      return DEFINITIONS.flatMap((summary) => summary.dimensions.map((dimension) => ask(summary, dimension, null, byMonth)));
    case 'five_years_by_day_grouped':
      return DEFINITIONS.flatMap((summary) => summary.dimensions.map((dimension) => ask(summary, dimension, null, byDay)));
    default:
      return DEFINITIONS.flatMap((summary) =>
        summary.few.flatMap((filter) => summary.few.filter((groupBy) => groupBy !== filter).map((groupBy) => ask(summary, groupBy, filter, byMonth))),
      );
  }
}

/** Medians of alternating runs, after checking that both sides return the same rows. Throws Problem if they differ. */
export async function compare(tx: Transaction, { name, question, asked }: Case, rounds: number): Promise<number> {
  const product = () => productPage(tx, question, asked);
  const raw = async () => (await tx.query<Record<string, string>>(rawStatement(question, asked))).rows;
  const [page, rows] = [await product(), await raw()];
  const ours = page.rows.map(({ sums: { start, value, measures } }) => [start, value, ...measures].join());
  const theirs = rows.map((row) => Object.values(row).join());
  const differing = ours.findIndex((row, i) => row !== theirs[i]);
  if (ours.length !== theirs.length || ours.length === 0 || differing !== -1) {
    throw new Problem(
      `${name}: the answers differ, ${ours.length} rows and ${theirs.length} of plain SQL: ${ours[differing] ?? ''} and ${theirs[differing] ?? ''}`,
    );
  }
  const times: { product: number[]; raw: number[] } = { product: [], raw: [] };
  for (let round = 0; round < rounds; round++) {
    times.raw.push(await timed(raw));
    // Repeat the shorter side, because disturbances affect it more.
    for (let n = 0; n < PAGES_EACH; n++) times.product.push(await timed(product));
  }
  const [productMs, rawMs] = [median(times.product), median(times.raw)];
  say(`${name.padEnd(44)} ${productMs.toFixed(2).padStart(8)} ms ${rawMs.toFixed(1).padStart(8)} ms ${(rawMs / productMs).toFixed(1).padStart(8)} ×`);
  return rawMs / productMs;
}

function productPage(
  tx: Transaction,
  question: ReportQuestion,
  { start, end, bucket, limit }: Asked,
  after: Uint8Array = new Uint8Array(),
): Promise<ReportPage> {
  return readPage(tx, question, { range: { start: parseDate(start) as number, end: parseDate(end) as number }, bucket, limit, after });
}

/** Ratio of a deep page's latency to the first page's, for five years by day and account. Rows are complete and ordered. */
export async function pageDepth(tx: Transaction, base: { companyId: string; generation: number }, page: number, requests: number): Promise<number> {
  const { question, asked } = casesOf('five_years_by_day_grouped', base).find(({ question }) => question.groupBy === 'account') as Case;
  let after: Uint8Array = new Uint8Array();
  let last = '';
  for (let n = 1; n < page; n++) {
    const { rows, next } = await productPage(tx, question, asked, after);
    for (const { period, sums } of rows) {
      const place = `${dateOf(period.start)} ${sums.value}`;
      if (place <= last) throw new Problem(`Page ${n} has ${place} after ${last}.`);
      last = place;
    }
    if (next.length === 0) throw new Problem(`There is no page ${page}: the data ends with page ${n}.`);
    after = next;
  }
  const [first, deep] = await alternate(
    () => productPage(tx, question, asked),
    () => productPage(tx, question, asked, after),
    requests,
    20,
  );
  say(`page ${page}: ${deep.toFixed(2)} ms, page 1: ${first.toFixed(2)} ms`);
  return deep / first;
}
