import type { Transaction } from '@truckroll/service-kit';

/**
 * Until the transaction ends, named statements are planned once, for any company, instead of for this one. Of a company that was not there when
 * PostgreSQL last looked at a table, it believes that it has next to no rows, and so that any index is as good as the right one: an import
 * then reads all rows that the company has by now for each row that it looks for. For statements that look rows up by their keys.
 */
export async function planForAnyCompany(tx: Transaction): Promise<void> {
  await tx.query({ name: 'plan_for_any_company', text: `select set_config('plan_cache_mode', 'force_generic_plan', true)` });
}
