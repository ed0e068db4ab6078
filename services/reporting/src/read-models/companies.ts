import { formatInstant, topics } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { ReadModel, StateEvent } from './read-model.ts';

const VERSION = 1;

/** When the time zone or the costing switch changes, financials follow in batches (after-settings.ts). Reports use all settings at once. */
export const companies: ReadModel = {
  topic: topics.companies,
  table: 'companies',
  version: VERSION,
  columns: ['time_zone', 'costing_enabled', 'verified_only', 'changed_at'],
  id: 'company_id',
  async store(tx, companyId, events) {
    const { payload, time } = events.at(-1) as StateEvent;
    const settings = CompanyAccount.decode(payload);
    const { rows: before } = await tx.query<{ time_zone: string; costing_enabled: boolean }>({
      text: 'select time_zone, costing_enabled from companies where company_id = $1',
      values: [companyId],
    });
    await tx.query({
      text: `insert into companies as c (company_id, time_zone, costing_enabled, verified_only, changed_at, projection, copied_at)
        values ($1, $2, $3, $4, $5, ${VERSION}, clock_timestamp())
        on conflict (company_id) do update set time_zone = excluded.time_zone, costing_enabled = excluded.costing_enabled,
          verified_only = excluded.verified_only, projection = excluded.projection, copied_at = excluded.copied_at,
          changed_at = case when c.time_zone = excluded.time_zone then c.changed_at else excluded.changed_at end`,
      values: [companyId, settings.timezone, settings.costing_enabled, settings.verified_only, formatInstant(time)],
    });
    if (before[0]?.time_zone === settings.timezone && before[0].costing_enabled === settings.costing_enabled) return { jobs: [] };
    await tx.query({
      text: `insert into financials_to_refresh (company_id) values ($1) on conflict (company_id) do update set after = null`,
      values: [companyId],
    });
    return { jobs: [] };
  },
  /** The owner had published the company and was restored to an earlier time. Its figures are removed with its records. */
  async remove(tx, companyId) {
    await tx.query({ text: 'delete from companies where company_id = $1', values: [companyId] });
    return [];
  },
};
