// Metrics for the age of reports and for companies whose sums are being computed: by cause, never by company.
import { watermarkSources } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { agesOfAsOf } from './as-of.ts';

const EVERY_MS = 5000;
const REASONS = [...watermarkSources.map((source) => source.split('/')[2] as string), 'dead_letters'];

/** Measures every 5 s from its start on. A measurement that fails is logged, and its gauges keep their values. */
export function freshnessMetrics(database: Database, log: Logger, metrics: Metrics): BackgroundPart {
  const ages = metrics.gauge('report_as_of_age_seconds', 'How far as_of is behind because of an owner, or of dead letters', ['because_of']);
  const companies = metrics.gauge(
    'report_companies',
    'Companies with a report all of whose days are being summed: "unanswered" for the first time or in a new time zone, so that large ranges get 503, "answered" again',
    ['reports'],
  );
  const waiting = metrics.gauge(
    'report_due_seconds',
    'Seconds for which the oldest change of facts has waited to be summed; until then reports add up the facts of its day',
  );
  return new PeriodicTask(
    EVERY_MS,
    async () => {
      const known = await agesOfAsOf(database);
      for (const reason of REASONS) ages.set({ because_of: reason }, Math.max(0, known.get(reason) ?? 0));
      const { rows: oldest } = await database.query<{ seconds: number }>({
        name: 'oldest_note',
        text: `select coalesce(extract(epoch from clock_timestamp() - min(noted_at)), 0)::float8 as seconds from due_notes`,
      });
      waiting.set({}, oldest[0]?.seconds ?? 0);
      const { rows } = await database.query<{ unanswered: number; answered: number }>({
        name: 'companies_being_summed',
        text: `select count(*) filter (where unanswered) as unanswered, count(*) filter (where not unanswered) as answered from (
            select bool_or(due_version = 0) as unanswered from summed where due_before is not null group by company_id) each_company`,
      });
      for (const [reports, count] of Object.entries(rows[0] ?? {})) companies.set({ reports }, count);
    },
    (error) => log.debug({ error }, 'the age of reports could not be measured'),
  ).asPart('freshness of reports');
}
