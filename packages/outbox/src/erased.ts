// Companies that were deleted (docs/adr/0024). A service refuses their data, also what arrives late. It knows them by a hash, so that their
// ids need not stay in the database.
import { createHash } from 'node:crypto';
import { ApiError, owners } from '@truckroll/contract';
import { binaryArrays, type Queryable } from '@truckroll/postgres';

/** Action of the entry, in the audit trail and in the topic of erasures, that says so. */
export const COMPANY_DELETED = 'company.deleted';

/** SHA-256 of the id in lower case, as PostgreSQL writes it. */
export const companyHash = (companyId: string): Buffer => createHash('sha256').update(companyId.toLowerCase()).digest();

/** SQL: whether the company whose id is in this expression was deleted, or is being deleted. */
export const isErased = (companyId: string): string =>
  `exists (select from erased_companies e where e.company_hash = sha256(convert_to(${companyId}::text, 'UTF8')))`;

/** Those of the companies that were deleted, or are being deleted. */
export async function erasedOf(db: Queryable, companyIds: readonly string[]): Promise<Set<string>> {
  const hashes = companyIds.map(companyHash);
  const { rows } = await db.query<{ hash: string }>({
    name: 'erased_companies_of',
    text: `select encode(company_hash, 'hex') as hash from erased_companies where company_hash = any($1::bytea[])`,
    values: [binaryArrays.bytea(hashes)],
  });
  const found = new Set(rows.map(({ hash }) => hash));
  return new Set(companyIds.filter((_, index) => found.has(hashes[index]!.toString('hex'))));
}

/** The items of companies that were not deleted. */
export async function withoutErased<T extends { readonly companyId: string }>(db: Queryable, items: readonly T[]): Promise<readonly T[]> {
  if (items.length === 0) return items;
  const erased = await erasedOf(db, [...new Set(items.map(({ companyId }) => companyId))]);
  return erased.size === 0 ? items : items.filter(({ companyId }) => !erased.has(companyId));
}

/** Errors: 409 if the company was deleted. Call it in the transaction that stores something of the company, unless a row of the company allows that. */
export async function refuseErased(db: Queryable, companyId: string): Promise<void> {
  if ((await erasedOf(db, [companyId])).size > 0) throw wasErased();
}

export function wasErased(): ApiError {
  return new ApiError('INVALID_REQUEST', 'The company with this id was deleted, or has moved to another cell, so nothing is stored for it here.', {
    status: 409,
  });
}

/** SQL condition on erased_companies: the company was deleted, or is being deleted, and has not only moved (`refuseMoved`). */
export const OF_DELETION = '(closed_at is not null or ended_at is null)';

/** Whether the company was deleted, or is being deleted. */
export async function isDeleted(db: Queryable, companyId: string): Promise<boolean> {
  const text = `select from erased_companies where company_hash = $1 and ${OF_DELETION}`;
  return (await db.query({ name: 'company_is_deleted', text, values: [companyHash(companyId)] })).rowCount > 0;
}

/** Marks the company: from now on its data is refused, and a task removes it. Returns false if that was done before. */
export async function markErased(tx: Queryable, companyId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark_company_erased',
    text: 'insert into erased_companies (company_hash, id) values ($1, $2) on conflict (company_hash) do nothing',
    values: [companyHash(companyId), companyId],
  });
  return rowCount === 1;
}

/**
 * Makes all schemas of a database refuse data of a company that lives in another cell (docs/adr/0028), because no client would see that data here. Its row
 * has no `closed_at`, which the row of a deleted company has once the deletion has ended.
 */
export async function refuseMoved(db: Queryable, companyId: string): Promise<void> {
  for (const owner of owners) {
    const text = `insert into ${owner}.erased_companies (company_hash, ended_at) values ($1, now()) on conflict do nothing`;
    await db.query({ text, values: [companyHash(companyId)] });
  }
}

/** Before the first row of the company arrives. */
export async function acceptMoved(db: Queryable, companyId: string): Promise<void> {
  for (const owner of owners) {
    const text = `delete from ${owner}.erased_companies where company_hash = $1 and not ${OF_DELETION}`;
    await db.query({ text, values: [companyHash(companyId)] });
  }
}
