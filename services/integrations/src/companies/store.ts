import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import type { CompanyAccount, CreateCompanyRequest, UpdateCompanyRequest } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Queryable } from '@truckroll/service-kit';

const COLUMNS = 'id, name, timezone, costing_enabled, verified_only, created_at, updated_at, webhook_endpoint_limit';

export async function insertCompany(db: Queryable, company: CreateCompanyRequest): Promise<CompanyAccount> {
  const { rows } = await db.query<CompanyAccount>({
    name: 'insert_company',
    text: `insert into companies (id, name, timezone, costing_enabled, verified_only)
      values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
    values: [
      company.id ?? randomUUID(),
      company.name,
      company.timezone,
      company.costing_enabled ?? true,
      company.verified_only ?? false,
    ],
  });
  return rows[0] as CompanyAccount;
}

/** All companies, oldest first, or the one with that id. */
export async function selectCompanies(db: Queryable, id?: string | null): Promise<CompanyAccount[]> {
  const { rows } = await db.query<CompanyAccount>({
    name: 'select_companies',
    text: `select ${COLUMNS} from companies where $1::uuid is null or id = $1 order by created_at, id`,
    values: [id ?? null],
  });
  return rows;
}

/** The company after the change, or undefined where there is none. updated_at moves only when something changes. */
export async function updateCompany(db: Queryable, change: UpdateCompanyRequest): Promise<CompanyAccount | undefined> {
  const { rows } = await db.query<CompanyAccount>({
    name: 'update_company',
    text: `update companies set
        name = coalesce($2, name), timezone = coalesce($3, timezone),
        costing_enabled = coalesce($4, costing_enabled), verified_only = coalesce($5, verified_only),
        webhook_endpoint_limit = coalesce($6, webhook_endpoint_limit),
        updated_at = case when (coalesce($2, name), coalesce($3, timezone), coalesce($4, costing_enabled), coalesce($5, verified_only),
            coalesce($6, webhook_endpoint_limit))
          = (name, timezone, costing_enabled, verified_only, webhook_endpoint_limit) then updated_at else now() end
      where id = $1 returning ${COLUMNS}`,
    values: [
      change.id, change.name ?? null, change.timezone ?? null, change.costing_enabled ?? null, change.verified_only ?? null,
      change.webhook_endpoint_limit ?? null,
    ],
  });
  return rows[0];
}

/** Throws 404 where there is no such company. */
export async function requireCompany(db: Queryable, id: string): Promise<void> {
  const [company] = await selectCompanies(db, id);
  if (company === undefined) {
    throw new ApiError('NOT_FOUND', 'There is no company with this id: see the ids with `truckroll company list`.');
  }
}
