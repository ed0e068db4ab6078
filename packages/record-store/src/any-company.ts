import type { Transaction } from '@truckroll/postgres';

/**
 * Until the transaction ends, plans named statements generically instead of for this company's values. If a company had no rows when
 * PostgreSQL last analyzed a table, the planner assumes that it still has next to none and that any index will do. An import then reads all
 * of the company's rows for each row it looks up. Use it for statements that look rows up by key.
 */
export async function planForAnyCompany(tx: Transaction): Promise<void> {
  await tx.query({ name: 'plan_for_any_company', text: `select set_config('plan_cache_mode', 'force_generic_plan', true)` });
}
