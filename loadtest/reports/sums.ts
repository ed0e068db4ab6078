// Creates the company's sums by SQL: the builder adds fact by fact and would take most of an hour on a busy machine. Comparisons with plain
// SQL check the sums before anything is timed.
import { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf } from '@truckroll/reporting/reports';
import type pg from 'pg';
import { TIMEZONE } from '../data/companies.ts';
import { SOURCES } from './raw.ts';

/** SQL by column. */
type Columns = Readonly<Record<string, string>>;

const GENERATION = 1;

/** Inserts in the order of the keys, so that the indexes are as compact as after a REINDEX. */
export async function makeSums(client: pg.Client, companyId: string): Promise<void> {
  const valueOf = (dimension: string): string => `coalesce(${dimension}::text, '${NONE}') collate "C"`;
  const insert = async (table: string, from: string, keys: Columns, measures: Columns): Promise<void> => {
    const all = { ...keys, ...measures };
    const places = Array.from(Object.keys(keys), (_, i) => i + 3).join(', ');
    await client.query(`insert into ${table} (company_id, generation, ${Object.keys(all).join(', ')})
      select company_id, ${GENERATION}, ${Object.values(all).join(', ')} from ${from} where company_id = '${companyId}'
      group by company_id, ${places} order by ${places}`);
  };
  for (const summary of DEFINITIONS) {
    const { from, at, standing, measures: special } = SOURCES[summary.name];
    const measures = Object.fromEntries(measuresOf(summary).map((name) => [name, special[name] ?? `sum(${name})`]));
    const day = `(${at} at time zone '${TIMEZONE}')::date`;
    const periods = { day, month: `date_trunc('month', ${day})::date` };
    for (const [step, period] of Object.entries(periods)) {
      const parts = Object.fromEntries(summary.dimensions.map((dimension) => [`${dimension}/`, valueOf(dimension)]));
      for (const [part, value] of Object.entries({ ...(summary.whole && { '': `''` }), ...parts }))
        await insert(summary.table, from, { part: `'${part}${step}'`, period, value, standing: `${standing}::text` }, measures);
    }
    const few = Object.fromEntries(summary.few.map((dimension) => [dimension, valueOf(dimension)]));
    await insert(summary.combinations, from, { period: periods.month, ...few, standing: `${standing}::text` }, measures);
  }
  await client.query(
    `insert into generations (company_id, generation, time_zone, state, version) values ($1, ${GENERATION}, $2, 'current', ${SUMMARIES_VERSION})`,
    [companyId, TIMEZONE],
  );
}
