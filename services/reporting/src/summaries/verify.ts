// Compares reports with their sources: job facts with read models, sums with facts.
import { formatDate, formatInstant, parseDate, startOfDay } from '@truckroll/contract';
import type { ReportDifference, VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Database, Queryable } from '@truckroll/postgres';
import { streamOf } from '@truckroll/process';
import { amountOf, datesOf, monthOf, sameEntries, type FactKind } from '../facts/fact.ts';
import { FACTS } from '../facts/index.ts';
import { derivedJobFacts, jobFacts } from '../facts/jobs.ts';
import { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
import { Deltas, SEPARATOR, keyColumns, type ChangedSum } from './deltas.ts';

const BATCH = 2000;
const MAX_REPORTED = 1000;

interface Generation {
  generation: number;
  time_zone: string;
}

interface Jobs {
  readonly wrong: readonly string[];
  readonly last: string | null;
}

interface Month {
  readonly month: number;
  readonly facts: number;
  readonly sums: number;
  readonly differences: readonly ReportDifference[];
}

type Snapshot = <T>(work: (tx: Queryable, current: Generation) => Promise<T>) => Promise<T | undefined>;

/**
 * Verifies in slices: jobs by id, sums by month. Each slice has a separate snapshot, so none keeps dead rows for long. Facts and sums only
 * change together, so any difference within a slice is an error. If the company's sums are rebuilt in between, the last response has
 * `built: false`.
 */
export function verifyReports(database: Pick<Database, 'transaction'>, companyId: string, signal: AbortSignal): AsyncIterable<VerifyReportsResponse> {
  return streamOf(async (emit) => {
    let first: Generation | undefined;
    const snapshot: Snapshot = (work) =>
      database.transaction(
        async (tx) => {
          const current = await currentGeneration(tx, companyId);
          first ??= current;
          if (current === undefined || current.generation !== first?.generation) return undefined;
          return await work(tx, current);
        },
        { isolation: 'REPEATABLE READ', readOnly: true, signal },
      );
    const complete = await verify(snapshot, companyId, emit);
    if (!complete) emit({ facts: 0, sums: 0, built: false, differences: [] });
  });
}

async function currentGeneration(tx: Queryable, companyId: string): Promise<Generation | undefined> {
  const { rows } = await tx.query<Generation>({
    name: 'generation_to_verify',
    text: `select generation, time_zone from generations g where company_id = $1 and state = 'current' and version >= ${SUMMARIES_VERSION}
      and not exists (select from spoiled_summaries s where s.company_id = g.company_id)`,
    values: [companyId],
  });
  return rows[0];
}

/** Whether the sums of one generation existed until the end. */
async function verify(snapshot: Snapshot, companyId: string, emit: (step: VerifyReportsResponse) => void): Promise<boolean> {
  const differences: ReportDifference[] = [];
  let facts = 0;
  let sums = 0;
  for (let after: string | null = null, ended = false; !ended; ) {
    const slice = await snapshot((tx): Promise<Jobs> => jobsAfter(tx, companyId, after));
    if (slice === undefined) return false;
    differences.push(...slice.wrong.map(ofJob));
    after = slice.last;
    ended = after === null;
  }
  for (let from: number | undefined; ; ) {
    const slice = await snapshot(async (tx, current): Promise<Month | 'done'> => {
      const month = await nextMonth(tx, companyId, current, from);
      return month === undefined ? 'done' : { month, ...(await verifyMonth(tx, companyId, current, month)) };
    });
    if (slice === undefined) return false;
    if (slice === 'done') break;
    facts += slice.facts;
    sums += slice.sums;
    differences.push(...slice.differences);
    emit({ facts, sums, built: true, differences: [] });
    from = monthAfter(slice.month);
  }
  emit({ facts, sums, built: true, differences: differences.slice(0, MAX_REPORTED) });
  return true;
}

async function jobsAfter(tx: Queryable, companyId: string, after: string | null): Promise<Jobs> {
  const ids = await jobFacts.next(tx, companyId, after, BATCH);
  const entries = await jobFacts.read(tx, companyId, ids);
  const derived = await derivedJobFacts(tx, companyId, ids);
  return { wrong: ids.filter((id) => !sameEntries(entries.get(id), derived.get(id))), last: ids.length < BATCH ? null : (ids.at(-1) ?? null) };
}

function ofJob(id: string): ReportDifference {
  return { report: 'job-profitability', period: '', group: `job ${id}`, difference: 'what it brings in is not what its read models come to' };
}

const monthAfter = (month: number): number => monthOf(month + 31);

const PARTS = DEFINITIONS.map((definition) => ({
  definition,
  parts: [...(definition.whole ? [''] : []), ...definition.dimensions.map((name) => `${name}/`)].flatMap((of) => [`${of}day`, `${of}month`]),
}));

async function nextMonth(tx: Queryable, companyId: string, { generation, time_zone }: Generation, from: number | undefined): Promise<number | undefined> {
  const periods = PARTS.flatMap(({ definition: { table, combinations }, parts }) => {
    const first = (name: string, which: string): string =>
      `(select period from ${name} where company_id = $1 and generation = $2 and ${which}period >= coalesce($3::date, '-infinity') order by period limit 1)`;
    return [...parts.map((part) => first(table, `part = '${part}' and `)), first(combinations, '')];
  });
  const instants = FACTS.map(
    ({ counted: [counted] }) =>
      `(select at from (${counted!.rows}) f where company_id = $1 and at >= coalesce($4::timestamptz, '-infinity') order by at limit 1)`,
  );
  const { rows } = await tx.query<{ period: string | null; at: number | null }>({
    name: 'next_month_to_verify',
    text: `select (select min(period)::text from (${periods.join(' union all ')}) p) as period, (select min(at) from (${instants.join(' union all ')}) i) as at`,
    values: [companyId, generation, from === undefined ? null : formatDate(from), from === undefined ? null : formatInstant(startOfDay(from, time_zone))],
  });
  const [{ period, at } = { period: null, at: null }] = rows;
  const months = [...(period === null ? [] : [monthOf(parseDate(period) as number)]), ...(at === null ? [] : [datesOf(at, time_zone).month])];
  return months.length === 0 ? undefined : Math.min(...months);
}

async function verifyMonth(tx: Queryable, companyId: string, current: Generation, month: number): Promise<Omit<Month, 'month'>> {
  const next = monthAfter(month);
  const bounds = [month, next].map((day) => formatInstant(startOfDay(day, current.time_zone)));
  const deltas = new Deltas();
  let facts = 0;
  for (const kind of FACTS) {
    const ids = await idsWithin(tx, companyId, kind, bounds);
    for (let start = 0; start < ids.length; start += BATCH) {
      for (const entries of (await kind.read(tx, companyId, ids.slice(start, start + BATCH))).values()) deltas.change(current, [], entries);
    }
    facts += ids.length;
  }
  let sums = 0;
  const differences: ReportDifference[] = [];
  for (const table of deltas.take()) {
    const compared = await compare(tx, table, companyId, current, [month, next].map(formatDate));
    sums += table.rows.length;
    differences.push(...compared);
  }
  return { facts, sums, differences };
}

async function idsWithin(tx: Queryable, companyId: string, { name, counted: [counted] }: FactKind, bounds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: `ids_of_${name}_within`,
    text: `select id from (${counted!.rows}) f where company_id = $1 and at >= $2 and at < $3`,
    values: [companyId, ...bounds],
  });
  return rows.map(({ id }) => id);
}

interface Computed {
  definition: SummaryDefinition;
  table: string;
  rows: readonly ChangedSum[];
}

async function compare(
  tx: Queryable,
  { definition, table, rows: computed }: Computed,
  companyId: string,
  { generation }: Generation,
  bounds: readonly string[],
): Promise<ReportDifference[]> {
  const keys = keyColumns(definition, table);
  const measures = measuresOf(definition);
  const parts = table === definition.table ? `and part = any($5::text[]) ` : '';
  const { rows: stored } = await tx.query<Record<string, string>>({
    name: `${table}_of_month`,
    text: `select ${[...keys, ...measures].map((name) => `${name}::text`).join(', ')} from ${table}
      where company_id = $1 and generation = $2 ${parts}and period >= $3 and period < $4`,
    values: [companyId, generation, ...bounds, ...(parts === '' ? [] : [PARTS.find((each) => each.definition === definition)?.parts])],
  });
  const keyOf = (row: Readonly<Record<string, string>>): string => keys.map((name) => row[name]).join(SEPARATOR);
  const found = new Map(stored.map((row) => [keyOf(row), row]));
  const differences: ReportDifference[] = [];
  const differ = (row: Record<string, string>, has: readonly (string | undefined)[], should: readonly (string | undefined)[]): void => {
    const texts = measures.flatMap((measure, i) =>
      (has[i] ?? '0') === (should[i] ?? '0') ? [] : [`${measure} is ${has[i] ?? 'not there'}, should be ${should[i] ?? 'not there'}`],
    );
    differences.push({ report: definition.report, ...placeOf(definition, row), difference: texts.join('; ') || 'a row of zeros' });
  };
  for (const { part, period, value, standing, measures: amounts } of computed) {
    const values = part === undefined ? Object.fromEntries(definition.few.map((name, i) => [name, value.split(SEPARATOR)[i] as string])) : { part, value };
    const row: Record<string, string> = { ...values, period: formatDate(period), standing };
    const has = found.get(keyOf(row));
    found.delete(keyOf(row));
    const should = amounts.map(String);
    const is = has && measures.map((name) => String(amountOf(has[name] as string)));
    if (is === undefined || is.some((amount, i) => amount !== should[i])) differ(row, is ?? [], should);
  }
  for (const row of found.values())
    differ(
      row,
      measures.map((name) => String(amountOf(row[name] as string))),
      [],
    );
  return differences;
}

function placeOf({ few }: SummaryDefinition, row: Record<string, string | null>): { period: string; group: string } {
  const { part, value, period, standing } = row as Record<string, string>;
  const shown = (dimension: string, of = ''): string => `${dimension} ${of === NONE ? 'none' : of}`;
  const [dimension, step] = part === undefined ? [] : part.includes('/') ? part.split('/') : ['', part];
  const group = dimension === undefined ? few.map((name) => shown(name, row[name] ?? '')).join(', ') : dimension === '' ? 'all' : shown(dimension, value);
  const month = step !== 'day';
  return {
    period: month ? (period as string).slice(0, -'-01'.length) : (period as string),
    group: standing === '' ? group : `${group}, ${standing as string}`,
  };
}
