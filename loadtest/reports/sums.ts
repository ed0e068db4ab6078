// Creates the company's sums by SQL: the builder adds fact by fact and would take most of an hour on a busy machine. Comparisons with plain
// SQL check the sums before anything is timed.
import { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf } from '@truckroll/reporting/reports';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { TIMEZONE } from '../data/companies.ts';
import { SOURCES } from './raw.ts';

const GENERATION = 1;

/** Inserts in the order of the keys, so that the indexes are as compact as after a REINDEX. */
export async function makeSums(client: pg.Client, companyId: string): Promise<void> {
  const startedAt = performance.now();
  const valueOf = (dimension: string): string => `coalesce(${dimension}::text, '${NONE}') collate "C"`;
  const insert = async (
    table: string,
    keys: Readonly<Record<string, string>>,
    { from, measures }: { from: string; measures: Record<string, string> },
  ): Promise<void> => {
    const columns = [...Object.keys(keys), ...Object.keys(measures)].join(', ');
    const places = Object.keys(keys)
      .map((_, i) => i + 3)
      .join(', ');
    await client.query(`insert into ${table} (company_id, generation, ${columns})
      select company_id, ${GENERATION}, ${[...Object.values(keys), ...Object.values(measures)].join(', ')} from ${from} where company_id = '${companyId}'
      group by company_id, ${places} order by ${places}`);
  };
  for (const summary of DEFINITIONS) {
    const { from, at, standing, measures: special } = SOURCES[summary.name];
    const measures = Object.fromEntries(measuresOf(summary).map((name) => [name, special[name] ?? `sum(${name})`]));
    const day = `(${at} at time zone '${TIMEZONE}')::date`;
    const periods = { day, month: `date_trunc('month', ${day})::date` };
    for (const [step, period] of Object.entries(periods)) {
      const parts = [...(summary.whole ? [['', `''`]] : []), ...summary.dimensions.map((dimension) => [`${dimension}/`, valueOf(dimension)])] as [
        string,
        string,
      ][];
      for (const [part, value] of parts)
        await insert(summary.table, { part: `'${part}${step}'`, period, value, standing: `${standing}::text` }, { from, measures });
    }
    const few = Object.fromEntries(summary.few.map((dimension) => [dimension, valueOf(dimension)]));
    await insert(summary.combinations, { period: periods.month, ...few, standing: `${standing}::text` }, { from, measures });
  }
  await client.query(
    `insert into generations (company_id, generation, time_zone, state, version) values ($1, ${GENERATION}, $2, 'current', ${SUMMARIES_VERSION})`,
    [companyId, TIMEZONE],
  );
  say(`Made the sums in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}
