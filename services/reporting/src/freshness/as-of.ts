// as_of: the time up to which everything that any owner committed is in the figures (docs/adr/0006).
import { topics, watermarkSources } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';

export const COUNTED_TOPICS = [topics.companies, topics.jobs, topics.assignments, topics.invoices, topics.payments, topics.refunds].map(({ name }) => name);

/** SQL condition on dead letters `p` that hold their company's as_of back: nothing newer of the same record was applied. */
const HOLDS_BACK = `not exists (select from inbox_version v where v.consumer = p.consumer and v.topic = p.topic and v.key = p.key
  and v.version > (p.headers ->> 'version')::bigint)`;
const PUBLISHED_AT = `to_timestamp(0) + (p.headers ->> 'time')::bigint * interval '1 microsecond'`;

/**
 * Microseconds since 1970; undefined until every owner has published. A dead letter holds its company back until it, or a newer event of
 * its record, is applied.
 */
export async function asOf(db: Queryable, companyId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ sources: number; at: number | null }>({
    name: 'as_of',
    text: `select (select count(*) from applied_until where source = any($2::text[])) as sources,
      least((select min(at) from applied_until where source = any($2::text[])), (
        select min(${PUBLISHED_AT}) from parked_event p
        where p.topic = any($3::text[]) and p.headers ->> 'companyId' = $1 and ${HOLDS_BACK})) as at`,
    values: [companyId, watermarkSources, COUNTED_TOPICS],
  });
  const [row] = rows;
  return row === undefined || row.at === null || row.sources < watermarkSources.length ? undefined : row.at;
}

/** Age of as_of in seconds by cause: each owner under the last part of its source, and dead letters for the company furthest behind. */
export async function agesOfAsOf(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await db.query<{ because_of: string; seconds: number }>({
    name: 'ages_of_as_of',
    text: `select because_of, extract(epoch from clock_timestamp() - at)::float8 as seconds from (
      select split_part(source, '/', 3) as because_of, at from applied_until where source = any($1::text[])
      union all select 'dead_letters', min(${PUBLISHED_AT}) from parked_event p where p.topic = any($2::text[]) and ${HOLDS_BACK}) known
      where at is not null`,
    values: [watermarkSources, COUNTED_TOPICS],
  });
  return new Map(rows.map(({ because_of, seconds }) => [because_of, seconds]));
}
