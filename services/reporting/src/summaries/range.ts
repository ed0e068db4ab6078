// Adds up many facts at once in SQL, with the same result as Deltas. Tests and `truckroll verify` compare the two row by row.
import { civil, formatDate, formatInstant, startOfDay } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import type { Counted, FactKind } from '../facts/fact.ts';
import { NONE, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
import { keyColumns } from './deltas.ts';

export interface FactRange {
  kind: FactKind;
  /** Null for the first ones. */
  after: string | null;
  /** Included. */
  last: string;
}

/** For grouping and sorting a range's rows, within its transaction only. */
const WORK_MEM = '64MB';

/** Adds a range to a generation that contains none of it, in a transaction that holds the company's lock. */
export async function addRange(tx: Queryable, companyId: string, generation: { generation: number; time_zone: string }, range: FactRange): Promise<void> {
  await tx.query({ name: 'memory_for_sums', text: `set local work_mem = '${WORK_MEM}'` });
  for (const counted of range.kind.counted) {
    const days = await daysOf(tx, companyId, generation.time_zone, counted, range);
    if (days.length === 0) continue;
    const { summary } = counted;
    const values = [companyId, range.after, range.last, generation.generation, days.map(({ start }) => start), days.map(({ month }) => month)];
    const add = (table: string, more: unknown[]): Promise<unknown> =>
      tx.query({ name: `add_range_to_${table}_of_${range.kind.name}`, text: adding(counted, table), values: [...values, ...more] });
    await add(summary.table, [days.map(({ day }) => day)]);
    await add(summary.combinations, []);
  }
}

interface Day {
  start: string;
  day: string;
  month: string;
}

/** Uses this runtime's time-zone database, not PostgreSQL's (decisions §13). A local date is at most one day away from the UTC date. */
async function daysOf(tx: Queryable, companyId: string, timeZone: string, { summary, rows: from }: Counted, { kind, after, last }: FactRange): Promise<Day[]> {
  const { rows } = await tx.query<{ day: number }>({
    name: `days_of_${summary.name}_of_${kind.name}`,
    text: `select distinct (at at time zone 'UTC')::date - date '1970-01-01' as day from (${from}) c where ${IN_RANGE}`,
    values: [companyId, after, last],
  });
  const near = new Set(rows.flatMap(({ day }) => [day - 1, day, day + 1]));
  return [...near]
    .sort((a, b) => a - b)
    .map((day) => {
      const [, , ofMonth] = civil(day);
      return { start: formatInstant(startOfDay(day, timeZone)), day: formatDate(day), month: formatDate(day - ofMonth + 1) };
    });
}

const IN_RANGE = 'c.company_id = $1 and ($2::uuid is null or c.id > $2) and c.id <= $3';

/** A fact counts on the date with the latest first instant that is not after it; if dates begin together, on the last. */
function adding({ summary, rows }: Counted, table: string): string {
  const keys = keyColumns(summary, table);
  const measures = measuresOf(summary);
  const [joined, values] = table === summary.table ? parts(summary) : combinations(summary);
  return `insert into ${table} as s (company_id, generation, ${keys.join(', ')}, ${measures.join(', ')})
    select $1::uuid, $4::integer, ${values.join(', ')}, ${measures.map((name) => `sum(f.${name})`).join(', ')}
    from (select c.*, width_bucket(c.at, $5::timestamptz[]) as n from (${rows}) c where ${IN_RANGE}) f ${joined}
    group by ${values.join(', ')} order by ${values.join(', ')}
    on conflict (company_id, generation, ${keys.join(', ')}) do update set ${measures.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ')}`;
}

const valueOf = (dimension: string): string => `coalesce(f.${dimension}::text, '${NONE}') collate "C"`;

function parts({ whole, dimensions }: SummaryDefinition): [joined: string, values: string[]] {
  const of = [...(whole ? [['', `''`]] : []), ...dimensions.map((dimension) => [`${dimension}/`, valueOf(dimension)])];
  const rows = of.flatMap(([part, value]) => [`('${part}day', ($7::date[])[f.n], ${value})`, `('${part}month', ($6::date[])[f.n], ${value})`]);
  return [
    `cross join lateral (values ${rows.join(', ')}) k(part, period, value)`,
    ['k.part collate "C"', 'k.period', 'k.value collate "C"', 'f.standing collate "C"'],
  ];
}

function combinations({ few }: SummaryDefinition): [joined: string, values: string[]] {
  return ['', ['($6::date[])[f.n]', ...few.map(valueOf), 'f.standing collate "C"']];
}
