import type { Transaction } from '@truckroll/postgres';

/**
 * Until the transaction ends, plans named statements generically. If a company had no rows when PostgreSQL last analyzed a table,
 * the planner expects next to none and any index will do: an import then reads all of the company's rows for each row it looks up.
 * For statements that look rows up by key.
 */
export async function planForAnyCompany(tx: Transaction): Promise<void> {
  await tx.query({ name: 'plan_for_any_company', text: `select set_config('plan_cache_mode', 'force_generic_plan', true)` });
}
