// SQL that sums facts by day or month, and months from their days. What a report keeps, what replaces it and what verifies it are one text.
import { NONE, factsWhere, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';

export const STEPS = ['day', 'month'] as const;
export type SumStep = (typeof STEPS)[number];

/** The parts of a report's sums of one step: in total, and by each dimension. */
export function partsOf({ whole, dimensions }: SummaryDefinition, step: SumStep): string[] {
  return [...(whole ? [step] : []), ...dimensions.map((dimension) => `${dimension}/${step}`)];
}

export const keysOf = {
  sums: (): readonly string[] => ['part', 'period', 'value', 'standing'],
  crosses: ({ few }: SummaryDefinition): readonly string[] => ['step', 'period', ...few, 'standing'],
};

const list = (names: readonly string[], of = (name: string): string => name): string => names.map(of).join(', ');
const added = (definition: SummaryDefinition): string => list(measuresOf(definition), (name) => `sum(${name}) as ${name}`);
const keyed = (a: string, b: string, keys: readonly string[]): string => keys.map((key) => `${a}.${key} = ${b}.${key}`).join(' and ');

/**
 * CTEs `sums` and `crosses` of the facts from each of the instants $3 to that of $4 as those of the dates $2, for company $1: all dimensions
 * in one pass. The caller computes the instants, because PostgreSQL's time zones are not used (decisions §13).
 */
function ofFacts(definition: SummaryDefinition, step: SumStep): string {
  const { dimensions, few, whole } = definition;
  const missing = (grouped: readonly string[]): number => dimensions.reduce((bits, dimension) => bits * 2 + (grouped.includes(dimension) ? 0 : 1), 0);
  const sets = [...(whole ? [[]] : []), ...dimensions.map((dimension) => [dimension])];
  const cases = (then: (set: readonly string[], i: number) => string): string =>
    `case missing ${sets.map((set, i) => `when ${missing(set)} then ${then(set, i)}`).join(' ')} end collate "C"`;
  return `with facts as (
      select d.period, f.standing collate "C" as standing, ${list(dimensions, (name) => `coalesce(f.${name}::text, '${NONE}') collate "C" as ${name}`)}, ${list(measuresOf(definition), (name) => `f.${name}`)}
      from unnest($2::date[], $3::timestamptz[], $4::timestamptz[]) d(period, start, until)
      cross join lateral (${factsWhere(definition, 'f.company_id = $1 and f.at >= d.start and f.at < d.until')}) f),
    grouped as (
      select period, standing, grouping(${list(dimensions)}) as missing, ${list(dimensions)}, ${added(definition)}
      from facts group by grouping sets (${[...sets, few].map((set) => `(period, standing${set.map((name) => `, ${name}`).join('')})`).join(', ')})),
    sums as (
      select ${cases((_, i) => `'${partsOf(definition, step)[i] as string}'`)} as part, period, ${cases(([dimension = `''`]) => dimension)} as value, standing, ${list(measuresOf(definition))}
      from grouped where missing <> ${missing(few)}),
    crosses as (select '${step}' as step, period, ${list(few)}, standing, ${list(measuresOf(definition))} from grouped where missing = ${missing(few)})`;
}

/** CTEs `sums` and `crosses` of the month $2, from the sums of its days, which end before $3. */
function ofDays(definition: SummaryDefinition): string {
  const { sums, crosses, few } = definition;
  return `with sums as (
      select replace(part, 'day', 'month') collate "C" as part, $2::date as period, value, standing, ${added(definition)} from ${sums}
      where company_id = $1 and part in (${list(partsOf(definition, 'day'), (part) => `'${part}'`)}) and period >= $2 and period < $3::date
      group by part, value, standing),
    crosses as (
      select 'month' as step, $2::date as period, ${list(few)}, standing, ${added(definition)} from ${crosses}
      where company_id = $1 and step = 'day' and period >= $2 and period < $3::date group by ${list(few)}, standing)`;
}

/** Replaces what is stored of these periods by the CTEs: rows that are the same are not written. */
function replacing(definition: SummaryDefinition, step: SumStep, ctes: string, periods: string): string {
  const measures = measuresOf(definition);
  const replace = (from: 'sums' | 'crosses', which: string): [gone: string, put: string] => {
    const table = definition[from];
    const keys = keysOf[from](definition);
    const gone = `delete from ${table} s where s.company_id = $1 and ${which} and s.period = any(${periods})
      and not exists (select from ${from} c where ${keyed('c', 's', keys)})`;
    const put = `insert into ${table} as s (company_id, ${list([...keys, ...measures])}) select $1, ${list([...keys, ...measures])} from ${from}
      on conflict (company_id, ${list(keys)}) do update set ${list(measures, (name) => `${name} = excluded.${name}`)}
      where (${list(measures, (name) => `s.${name}`)}) is distinct from (${list(measures, (name) => `excluded.${name}`)})`;
    return [gone, put];
  };
  const [goneSums, putSums] = replace('sums', `s.part in (${list(partsOf(definition, step), (part) => `'${part}'`)})`);
  const [goneCrosses, putCrosses] = replace('crosses', `s.step = '${step}'`);
  return `${ctes}, gone as (${goneSums}), gone_crosses as (${goneCrosses}), put as (${putSums}) ${putCrosses}`;
}

/** Sums days again: company $1, dates $2, their first instants $3 and ends $4. */
export const summingDays = (definition: SummaryDefinition): string => replacing(definition, 'day', ofFacts(definition, 'day'), '$2::date[]');

/** Sums a month again from its days: company $1, the month's first day $2, the day after its last $3. */
export const summingMonth = (definition: SummaryDefinition): string => replacing(definition, 'month', ofDays(definition), 'array[$2::date]');

/**
 * Rows of one kind that differ from those that facts give, for the arguments of `ofFacts`: their keys, and what they have and should have.
 * A row without keys has the number of facts, and that of rows that facts give.
 */
export function differing(definition: SummaryDefinition, step: SumStep, from: 'sums' | 'crosses'): string {
  const keys = keysOf[from](definition);
  const measures = measuresOf(definition);
  const which = from === 'sums' ? `part in (${list(partsOf(definition, step), (part) => `'${part}'`)})` : `step = '${step}'`;
  const both = list(measures, (name) => `s.${name}::text as has_${name}, c.${name}::text as should_${name}`);
  return `${ofFacts(definition, step)}
    select ${list(keys, (key) => `coalesce(s.${key}, c.${key})::text as ${key}`)}, ${both}, null::bigint as facts, null::bigint as sums
    from ${from} c full join (select * from ${definition[from]} where company_id = $1 and ${which} and period = any($2::date[])) s on ${keyed('c', 's', keys)}
    where (${list(measures, (name) => `s.${name}`)}) is distinct from (${list(measures, (name) => `c.${name}`)})
    union all select ${list([...keys, ...measures, ...measures], () => 'null')}, (select count(*) from facts), (select count(*) from ${from})
    order by ${keys.map((_, i) => i + 1).join(', ')}`;
}
