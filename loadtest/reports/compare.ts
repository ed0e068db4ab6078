// Compares report pages by the product's statements and by plain SQL, alternating on one connection.
import { DEFINITIONS, readPage, type ReportQuestion, type SummaryDefinition } from '@truckroll/reporting/reports';
import { parseDate } from '@truckroll/contract';
import { Problem, say } from '@truckroll/local-stack';
import type { Transaction } from '@truckroll/postgres';
import { TIMEZONE } from '../data/companies.ts';
import { timed } from '../measure/latency.ts';
import { inTurn, median } from '../measure/turns.ts';
import { idOf } from './company.ts';
import { rawStatement, type Asked } from './raw.ts';

/** Pages from sums for each plain SQL statement, which takes a hundred times as long. */
const PAGES_EACH = 20;
/** Default page size of the API. */
const PAGE = 50;
const ASKED: Asked = { start: '2024-01-01', end: '2025-01-01', limit: PAGE };

interface Case {
  readonly name: string;
  readonly question: ReportQuestion;
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

export function casesOf(figure: string, base: Pick<ReportQuestion, 'companyId' | 'due'>): Case[] {
  const ask = (summary: SummaryDefinition, groupBy: string | null = null, filter: string | null = null): Case => ({
    name: `${summary.name}${filter === null ? '' : ` of one ${filter}`}${groupBy === null ? '' : ` by ${groupBy}`}`,
    question: {
      ...base,
      summary,
      groupBy,
      timeZone: TIMEZONE,
      standings: STANDINGS[summary.name],
      filters: new Map(filter === null ? [] : [[filter, [VALUES[filter] as string]]]),
    },
  });
  switch (figure) {
    case 'year_by_month':
      return DEFINITIONS.filter(({ whole }) => whole).map((summary) => ask(summary));
    case 'year_by_month_grouped':
      return DEFINITIONS.flatMap((summary) => summary.dimensions.map((dimension) => ask(summary, dimension)));
    default:
      return DEFINITIONS.flatMap((summary) =>
        summary.few.flatMap((filter) => summary.few.filter((groupBy) => groupBy !== filter).map((groupBy) => ask(summary, groupBy, filter))),
      );
  }
}

/** Medians of alternating runs, after checking that both sides return the same rows. Throws Problem if they differ. */
export async function compare(tx: Transaction, { name, question }: Case, rounds: number): Promise<number> {
  const range = { start: parseDate(ASKED.start) as number, end: parseDate(ASKED.end) as number };
  const product = () => readPage(tx, question, { range, bucket: 'month', limit: PAGE, after: new Uint8Array() });
  const raw = async () => (await tx.query<Record<string, string>>(rawStatement(question, ASKED))).rows;
  const [page, rows] = [await product(), await raw()];
  const ours = page.rows.map(({ sums: { start, value, measures } }) => [start, value, ...measures].join());
  const theirs = rows.map((row) => Object.values(row).join());
  const differing = ours.findIndex((row, i) => row !== theirs[i]);
  if (ours.length !== theirs.length || ours.length === 0 || differing !== -1) {
    throw new Problem(
      `${name}: the answers differ, ${ours.length} rows and ${theirs.length} of plain SQL: ${ours[differing] ?? ''} and ${theirs[differing] ?? ''}`,
    );
  }
  // Repeat the shorter side, because disturbances affect it more.
  const pages = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let n = 0; n < PAGES_EACH; n++) times.push(await timed(product));
    return times;
  };
  const times = await inTurn(rounds, { product: pages, raw: async () => [await timed(raw)] });
  const [productMs, rawMs] = [median(times.product.flat()), median(times.raw.flat())];
  say(`${name.padEnd(44)} ${productMs.toFixed(2).padStart(8)} ms ${rawMs.toFixed(1).padStart(8)} ms ${(rawMs / productMs).toFixed(1).padStart(8)} ×`);
  return rawMs / productMs;
}
