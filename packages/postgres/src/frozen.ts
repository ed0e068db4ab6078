// Companies that are frozen (docs/adr/0026): their rows can be read and not changed. The table is in every service's schema.
import { ApiError } from '@truckroll/contract';
import type { Queryable } from './statement.ts';

/** The constraint that an error of a frozen company's triggers names. Its SQLSTATE is 55P03. */
export const FROZEN = 'frozen';

const RETRY_AFTER_SECONDS = 5;

/** With its table: inside, a bare name would be that of the other table. */
type Column = `${string}.${string}`;

/** SQL: the company in this column is neither frozen nor about to be. Work for all companies begins nothing for others. */
export const notFreezing = (column: Column): string => `not exists (select from frozen_companies f where f.company_id = ${column})`;

/** SQL: changes of the company in this column are not refused yet. Work that has begun ends under this condition. */
export const notFrozen = (column: Column): string => `not exists (select from frozen_companies f where f.company_id = ${column} and f.closed_at is not null)`;

/** 503. Nothing of the refused transaction was stored. */
export function companyIsFrozen(cause: unknown): ApiError {
  const message =
    'The company is frozen, because its operator is moving it or working on it: it can be read, but not changed. Nothing was stored. ' +
    'Try again after the time in Retry-After.';
  return new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER_SECONDS, cause, frozen: true });
}

/** Throws 503 if the company is frozen. A transaction that only appends to the outbox, which has no triggers, calls it under the company's lock. */
export async function refuseFrozen(db: Queryable, companyId: string): Promise<void> {
  const { rowCount } = await db.query({
    name: 'is_frozen',
    text: 'select from frozen_companies where company_id = $1 and closed_at is not null',
    values: [companyId],
  });
  if (rowCount > 0) throw companyIsFrozen(undefined);
}

/** Those of the companies that are frozen, or about to be. */
export async function frozenAmong(db: Queryable, companyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'frozen_among',
    text: 'select company_id as id from frozen_companies where company_id = any($1::uuid[])',
    values: [companyIds],
  });
  return new Set(rows.map(({ id }) => id));
}

/** After a restore: changes of frozen companies are accepted again. Returns their ids. Their freeze can be begun again, or ended. */
export async function openFrozen(tx: Queryable): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({ text: 'update frozen_companies set closed_at = null, passes = null returning company_id as id' });
  return rows.map(({ id }) => id);
}
