// Metrics for the age of reports and for companies whose sums are being built: by cause, never by company.
import { watermarkSources } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { pause, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { agesOfAsOf } from './as-of.ts';

const EVERY_MS = 5000;
const REASONS = [...watermarkSources.map((source) => source.split('/')[2] as string), 'dead_letters'];

export function freshnessMetrics(database: Database, log: Logger, metrics: Metrics): BackgroundPart {
  const ages = metrics.gauge('report_as_of_age_seconds', 'How far as_of is behind because of an owner, or of dead letters', ['because_of']);
  const companies = metrics.gauge(
    'report_companies',
    'Companies whose sums are being built: "unanswered" get 503 until then, "answered" the figures of before',
    ['reports'],
  );
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function measure(): Promise<void> {
    const known = await agesOfAsOf(database);
    for (const reason of REASONS) ages.set({ because_of: reason }, Math.max(0, known.get(reason) ?? 0));
    const { rows } = await database.query<{ unanswered: number; answered: number }>({
      name: 'companies_being_built',
      text: `select count(*) filter (where not readable) as unanswered, count(*) filter (where readable and building) as answered from (
        select exists (select from generations g where g.company_id = c.company_id and g.state = 'current')
            and not exists (select from spoiled_summaries s where s.company_id = c.company_id) as readable,
          exists (select from generations g where g.company_id = c.company_id and g.state = 'building') as building
        from companies c) each_company`,
    });
    for (const [reports, count] of Object.entries(rows[0] ?? {})) companies.set({ reports }, count);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await measure().catch((error: unknown) => log.debug({ error }, 'the age of reports could not be measured'));
      await pause(EVERY_MS, stopping.signal);
    }
  }
  return {
    name: 'freshness of reports',
    async start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
