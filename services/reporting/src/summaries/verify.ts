// Holds what reports are made of against what it follows from: job facts against read models, sums against facts.
import type { ReportDifference, VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import { Database, streamOf, type Queryable } from '@truckroll/service-kit';
import { sameEntries } from '../facts/fact.ts';
import { FACTS } from '../facts/index.ts';
import { derivedJobFacts, jobFacts } from '../facts/jobs.ts';
import { DEFINITIONS, NONE, measuresOf, type SummaryDefinition } from './definitions.ts';
import { Deltas, keyColumns } from './deltas.ts';

/** Facts that are read and added up at once. */
const BATCH = 5000;
/** Differences that are told. */
const MOST_TOLD = 1000;
/** Of the temporary tables with the sums as facts have them. */
const COMPUTED = 'computed_';

/**
 * In one snapshot, which facts and sums only change together between, so that whatever differs is wrong; it holds up
 * nobody. Needs the right to make temporary tables, which every role has unless somebody has taken it away.
 */
export function verifyReports(database: Database, companyId: string, signal: AbortSignal): AsyncIterable<VerifyReportsResponse> {
  return streamOf(async (tell) => {
    // A connection of its own: some of its statements take longer than others may.
    const { metrics: _, ...options } = database.options;
    const url = options.sessionUrl ?? options.url;
    const own = new Database({ ...options, url, statementTimeoutMs: 0, maxConnections: 1 });
    try {
      await own.transaction((tx) => verify(tx, companyId, tell), { isolation: 'REPEATABLE READ', signal });
    } finally {
      await own.close();
    }
  });
}

async function verify(tx: Queryable, companyId: string, tell: (step: VerifyReportsResponse) => void): Promise<void> {
  const { rows } = await tx.query<{ generation: number; time_zone: string }>({
    text: `select generation, time_zone from generations g where company_id = $1 and state = 'current'
      and not exists (select from spoiled_summaries s where s.company_id = g.company_id)`,
    values: [companyId],
  });
  const [current] = rows;
  if (current === undefined) return tell({ facts: 0, sums: 0, built: false, differences: [] });
  for (const { name } of TABLES) await tx.query({ text: `create temporary table ${COMPUTED}${name} (like ${name} including indexes) on commit drop` });
  const differences: ReportDifference[] = [];
  let facts = 0;
  for (const kind of FACTS) {
    for (let after: string | null = null; ; ) {
      const ids: string[] = await kind.next(tx, companyId, after, BATCH);
      const entries = await kind.read(tx, companyId, ids);
      if (kind === jobFacts) {
        const derived = await derivedJobFacts(tx, companyId, ids);
        differences.push(...ids.filter((id) => !sameEntries(entries.get(id), derived.get(id))).map(ofJob));
      }
      const deltas = new Deltas();
      for (const of of entries.values()) deltas.change(current, [], of);
      await deltas.write(tx, companyId, COMPUTED);
      facts += ids.length;
      tell({ facts, sums: 0, built: true, differences: [] });
      after = ids.at(-1) ?? null;
      if (ids.length < BATCH) break;
    }
  }
  let sums = 0;
  for (const table of TABLES) sums += await compare(tx, table, companyId, current.generation, differences);
  tell({ facts, sums, built: true, differences: differences.slice(0, MOST_TOLD) });
}

interface SumTable {
  name: string;
  definition: SummaryDefinition;
}

const TABLES: readonly SumTable[] = DEFINITIONS.flatMap((definition) => [definition.table, definition.combinations].map((name) => ({ name, definition })));

function ofJob(id: string): ReportDifference {
  return { report: 'job-profitability', period: '', group: `job ${id}`, difference: 'what it brings in is not what its read models come to' };
}

/** Adds where a table differs; returns how many of its rows there are. */
async function compare(db: Queryable, { name, definition }: SumTable, companyId: string, generation: number, differences: ReportDifference[]): Promise<number> {
  const keys = keyColumns(definition, name);
  const measures = measuresOf(definition);
  await db.query({ text: `analyze ${COMPUTED}${name}` });
  const of = (alias: string): string => `(${measures.map((measure) => `${alias}.${measure}`).join(', ')})`;
  const { rows } = await db.query<Record<string, string | null>>({
    text: `select ${keys.map((key) => `${key}::text`).join(', ')}, ${measures.map((m) => `s.${m}::text as stored_${m}, r.${m}::text as computed_${m}`).join(', ')}
      from (select * from ${name} where company_id = $1 and generation = $2) s full join ${COMPUTED}${name} r using (${keys.join(', ')})
      where ${of('s')} is distinct from ${of('r')} order by ${keys.join(', ')} limit ${MOST_TOLD}`,
    values: [companyId, generation],
  });
  for (const row of rows) {
    const wrong = measures.filter((measure) => (row[`stored_${measure}`] ?? '0') !== (row[`computed_${measure}`] ?? '0'));
    const texts = wrong.map((measure) => `${measure} is ${row[`stored_${measure}`] ?? 'not there'}, should be ${row[`computed_${measure}`] ?? 'not there'}`);
    differences.push({ report: definition.report, ...placeOf(definition, row), difference: texts.join('; ') || 'a row of zeros' });
  }
  const counted = await db.query<{ count: number }>({ text: `select count(*) from ${COMPUTED}${name}` });
  return counted.rows[0]?.count ?? 0;
}

/** Where a row stands, as an accountant would say it. */
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
