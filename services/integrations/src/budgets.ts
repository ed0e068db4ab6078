// Daily budgets of companies (decisions §17): what a client can fill, it can fill only so fast. Days are those of UTC.
import { ApiError, now } from '@truckroll/contract';
import type { Queryable, Statement } from '@truckroll/postgres';

/** Bytes a day that changes by clients add to the audit trail, which keeps them for a year. */
const AUDIT_BYTES = 4_000_000;
/** Bytes a day of test events. */
const TEST_BYTES = 4_000_000;
/** Bytes a day of recorded answers, beyond what is recorded of every answer. */
export const ANSWER_BYTES = 100_000_000;

const REFUSING = {
  audit: {
    most: AUDIT_BYTES,
    message: "The company's audit trail is full for today: changes go on tomorrow (UTC). Keys can be revoked and endpoints deleted.",
  },
  tests: { most: TEST_BYTES, message: 'The company has sent as many tests of webhooks as it may on one day: they go on tomorrow (UTC).' },
} as const;

const DAY_SECONDS = 86_400;
/** SQL for the day. */
export const TODAY = `(now() at time zone 'UTC')::date`;

/** Throws 429 if the company has used up the day's budget. The last change of a day may exceed it. */
export async function requireBudget(tx: Pick<Queryable, 'query'>, companyId: string, budget: keyof typeof REFUSING): Promise<void> {
  const { rows } = await tx.query<{ used: number }>({
    name: 'read_company_budget',
    text: `select used from company_budgets where company_id = $1 and budget = $2 and day = ${TODAY}`,
    values: [companyId, budget],
  });
  const { most, message } = REFUSING[budget];
  if ((rows[0]?.used ?? 0) < most) return;
  throw new ApiError('RATE_LIMITED', message, { retryAfterSeconds: DAY_SECONDS - Math.floor((now() / 1_000_000) % DAY_SECONDS) });
}

const SPEND = `on conflict (company_id, budget) do update
  set used = case when b.day < excluded.day then 0 else b.used end + excluded.used, day = greatest(b.day, excluded.day)`;

/** Adds to what companies have used of a budget. Locks rows in the order of companies. */
export function spending(budget: string, amounts: ReadonlyMap<string, number>): Statement {
  return {
    name: 'spend_company_budgets',
    text: `insert into company_budgets as b (company_id, budget, day, used)
      select g.company_id, $1, ${TODAY}, g.used from unnest($2::uuid[], $3::bigint[]) g (company_id, used) order by g.company_id ${SPEND}`,
    values: [budget, [...amounts.keys()], [...amounts.values()]],
  };
}

/** Takes one of the `most` of a day. Resolves to how many are taken then, or to undefined if none is left. */
export async function takeOne(tx: Queryable, companyId: string, budget: string, most: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ used: number }>({
    name: 'take_of_company_budget',
    text: `insert into company_budgets as b (company_id, budget, day, used) values ($1, $2, ${TODAY}, 1)
      ${SPEND} where b.day < excluded.day or b.used < $3 returning b.used`,
    values: [companyId, budget, most],
  });
  return rows[0]?.used;
}
