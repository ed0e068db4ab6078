import { countedDay, formatDate, formatInstant, parseDate, startOfDay } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { factsWhere, type CompanyReport } from '../facts/definitions.ts';
import { STEPS, partsOf } from './statements.ts';

/** A day for PostgreSQL, in days since 1970-01-01; Infinity and -Infinity are after and before every day. */
export const dateText = (day: number): string => (day === Infinity ? 'infinity' : day === -Infinity ? '-infinity' : formatDate(day));

const instantText = (day: number, timeZone: string): string => (Number.isFinite(day) ? formatInstant(startOfDay(day, timeZone)) : dateText(day));

/** The last day before `day` with facts or sums, or the first from `day` on: one step along each index. Sums may be of another time zone. */
export async function nearestDay(
  db: Queryable,
  { summary, companyId, timeZone }: CompanyReport,
  which: 'before' | 'from',
  day: number,
): Promise<number | undefined> {
  const { name, sums, crosses } = summary;
  const [compare, order, most] = which === 'before' ? ['<', 'desc', 'max'] : ['>=', 'asc', 'min'];
  const { rows } = await db.query<{ at: number | null; period: string | null }>({
    name: `nearest_day_of_${name}_${which}`,
    text: `select (select ${most}(at) from (${factsWhere(summary, `f.company_id = $1 and f.at ${compare} $2`, 'f.at', `order by f.at ${order} limit 1`)}) each) as at, (
        select ${most}(period)::text from (
          select p.period from unnest($3::text[]) kept(part) cross join lateral (
            select s.period from ${sums} s where s.company_id = $1 and s.part = kept.part and s.period ${compare} $4 order by s.period ${order} limit 1) p
          union all select p.period from unnest($5::text[]) kept(step) cross join lateral (
            select s.period from ${crosses} s where s.company_id = $1 and s.step = kept.step and s.period ${compare} $4 order by s.period ${order} limit 1) p) each) as period`,
    values: [companyId, instantText(day, timeZone), STEPS.flatMap((step) => partsOf(summary, step)), dateText(day), STEPS],
  });
  const { at = null, period = null } = rows[0] ?? {};
  const found = [...(at === null ? [] : [countedDay(at, timeZone)]), ...(period === null ? [] : [parseDate(period) as number])];
  return found.length === 0 ? undefined : Math[most as 'max' | 'min'](...found);
}
