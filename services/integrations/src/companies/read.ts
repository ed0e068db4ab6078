import { ApiError } from '@truckroll/contract';
import type { Company, GetCompanyRequest, GetCompanyResponse } from '@truckroll/contract/gen/integrations/v1/company';
import type { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { selectCompanies } from './store.ts';

/** GET /v1/company. The id comes from the credential, so the company exists unless it was removed just now. */
export async function getCompany({ database }: Context, request: GetCompanyRequest): Promise<GetCompanyResponse> {
  const id = request.key?.company_id;
  if (id === undefined) throw ApiError.notFound('company');
  const [company] = await selectCompanies(database.of(id), checked('ListCompaniesRequest', { id }).id);
  if (company === undefined) throw ApiError.notFound('company');
  return { data: publicCompany(company) };
}

export function publicCompany({ id, name, timezone }: CompanyAccount): Company {
  return { id, name, timezone, currency: 'USD' };
}
