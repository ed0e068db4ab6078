import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import type { CompanyAccount, CreateCompanyRequest, KeyLimits, UpdateCompanyRequest } from '@truckroll/contract/gen/integrations/v1/admin';
import { refuseErased } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { refuseElsewhere } from './places.ts';

const COLUMNS = `id, name, timezone, costing_enabled, verified_only, created_at, updated_at, webhook_endpoint_limit, key_limit,
  reads_per_minute, reports_per_minute, writes_per_minute, sandbox`;

type Row = Omit<CompanyAccount, 'limits'> & KeyLimits;

function companyOf({ reads_per_minute, reports_per_minute, writes_per_minute, ...company }: Row): CompanyAccount {
  return { ...company, limits: { reads_per_minute, reports_per_minute, writes_per_minute } };
}

export async function insertCompany(db: Queryable, company: CreateCompanyRequest): Promise<CompanyAccount> {
  const { rows } = await db.query<Row>({
    name: 'insert_company',
    text: `insert into companies (id, name, timezone, costing_enabled, verified_only, sandbox)
      values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    values: [
      company.id ?? randomUUID(),
      company.name,
      company.timezone,
      company.costing_enabled ?? true,
      company.verified_only ?? false,
      company.sandbox ?? false,
    ],
  });
  return companyOf(rows[0] as Row);
}

/** All companies, oldest first, or the one with the id. */
export async function selectCompanies(db: Queryable, id?: string | null): Promise<CompanyAccount[]> {
  const { rows } = await db.query<Row>({
    name: 'select_companies',
    text: `select ${COLUMNS}, (select begun_at from frozen_companies f where f.company_id = companies.id) as frozen_at
      from companies where $1::uuid is null or id = $1 order by created_at, id`,
    values: [id ?? null],
  });
  return rows.map(companyOf);
}

/** Locks the company's row until the transaction ends. Undefined if there is no such company. */
export async function lockCompany(tx: Transaction, id: string): Promise<CompanyAccount | undefined> {
  const { rows } = await tx.query<Row>({ name: 'lock_company', text: `select ${COLUMNS} from companies where id = $1 for no key update`, values: [id] });
  return rows[0] && companyOf(rows[0]);
}

/** Columns that a change may set, in the order of the parameters from $2 on. Null keeps the value. */
const SETTINGS = ['name', 'timezone', 'costing_enabled', 'verified_only', 'webhook_endpoint_limit', 'key_limit'];
/** The columns after those. Null keeps the value, 0 removes it. */
const REMOVABLE = ['reads_per_minute', 'reports_per_minute', 'writes_per_minute'];
const NEXT = [...SETTINGS, ...REMOVABLE].map(
  (column, i) => [column, i < SETTINGS.length ? `coalesce($${i + 2}, ${column})` : `nullif(coalesce($${i + 2}, ${column}), 0)`] as const,
);

/** Returns the changed company, or undefined if it does not exist. Sets updated_at only if something changes. */
export async function updateCompany(db: Queryable, change: UpdateCompanyRequest): Promise<CompanyAccount | undefined> {
  const { name, timezone, costing_enabled, verified_only, webhook_endpoint_limit, key_limit, limits } = change;
  const { rows } = await db.query<Row>({
    name: 'update_company',
    text: `update companies set ${NEXT.map(([column, value]) => `${column} = ${value}`).join(', ')},
        updated_at = case when (${NEXT.map(([, value]) => value).join(', ')}) is not distinct from (${NEXT.map(([column]) => column).join(', ')})
          then updated_at else now() end
      where id = $1 returning ${COLUMNS}`,
    values: [
      change.id,
      name,
      timezone,
      costing_enabled,
      verified_only,
      webhook_endpoint_limit,
      key_limit,
      limits?.reads_per_minute,
      limits?.reports_per_minute,
      limits?.writes_per_minute,
    ],
  });
  return rows[0] && companyOf(rows[0]);
}

/** Throws 404 if the company does not exist, and 409 if it is being deleted or lives in another cell. */
export async function requireCompany(db: Queryable, id: string): Promise<void> {
  const [company] = await selectCompanies(db, id);
  if (company === undefined) {
    throw new ApiError('NOT_FOUND', 'There is no company with this id: see the ids with `truckroll company list`.');
  }
  await refuseErased(db, id);
  await refuseElsewhere(db, id);
}
