import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import { until } from '@truckroll/testing/until';
import type { Json } from '../support/expected.ts';
import type { System, TestCompany } from '../support/system.ts';
import { pathOf, type Question } from './oracle/question.ts';
import type { Settings } from './oracle/records.ts';
import { readAll } from './oracle/records.ts';

export function ask(system: System, company: TestCompany, question: Question, limit = 100): Promise<Json[]> {
  return readAll(system, company, pathOf(question, limit));
}

/** Sums all days and months, so that reports then read no facts. */
export async function sum(system: System): Promise<void> {
  for await (const _ of system.channel('reporting').client(ReportingAdminServiceService).rebuild({}));
}

/** Resolves when reports include everything committed until now, by their as_of. */
export async function fresh(system: System, company: TestCompany, settings?: Settings): Promise<void> {
  const committed = Date.now();
  const ask = () => system.get(company, '/v1/reports/job-profitability?start_date=2000-01-01&end_date=2000-01-02');
  await until(`reports as of ${new Date(committed).toISOString()} with ${JSON.stringify(settings)}`, ask, ({ status, body }) => {
    if (status !== 200) return false;
    const { report, meta } = body;
    const applied =
      settings === undefined ||
      (meta.timezone === settings.timezone && report.costing_enabled === settings.costing && report.verified_only === settings.verifiedOnly);
    return applied && Date.parse(report.as_of) > committed;
  });
}
