import { topics } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Copy } from './copy.ts';

const VERSION = 1;

/** Settings that figures depend on: a changed time zone moves report dates, so all of the company's jobs follow. */
export const companies: Copy = {
  topic: topics.companies,
  table: 'companies',
  version: VERSION,
  async store(tx, companyId, payloads) {
    const settings = CompanyAccount.decode(payloads.at(-1) as Buffer);
    const { rows: before } = await tx.query<{ time_zone: string; costing_enabled: boolean }>({
      text: 'select time_zone, costing_enabled from companies where company_id = $1',
      values: [companyId],
    });
    await tx.query({
      text: `insert into companies (company_id, time_zone, costing_enabled, verified_only, projection) values ($1, $2, $3, $4, ${VERSION})
        on conflict (company_id) do update set time_zone = excluded.time_zone, costing_enabled = excluded.costing_enabled,
          verified_only = excluded.verified_only, projection = excluded.projection, copied_at = default`,
      values: [companyId, settings.timezone, settings.costing_enabled, settings.verified_only],
    });
    if (before[0]?.time_zone === settings.timezone && before[0].costing_enabled === settings.costing_enabled) return [];
    const { rows } = await tx.query<{ id: string }>({ text: 'select id from job_financials where company_id = $1', values: [companyId] });
    return rows.map(({ id }) => id);
  },
};
