import { ApiError } from '@truckroll/contract';
import type {
  CreateCompanyRequest,
  CreateCompanyResponse,
  ListCompaniesRequest,
  ListCompaniesResponse,
  UpdateCompanyRequest,
  UpdateCompanyResponse,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { isUniqueViolation } from '@truckroll/service-kit';
import type { Context } from '../context.ts';
import { forgetCompany } from '../identity/pending.ts';
import { checked, refused } from '../requests.ts';
import { insertCompany, selectCompanies, updateCompany } from './store.ts';

async function create({ database }: Context, request: CreateCompanyRequest): Promise<CreateCompanyResponse> {
  try {
    return { company: await insertCompany(database, checked('CreateCompanyRequest', request)) };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw refused('id', 'There is a company with this id already: leave the id out, or change that company.');
  }
}

async function list({ database }: Context, request: ListCompaniesRequest): Promise<ListCompaniesResponse> {
  return { companies: await selectCompanies(database, checked('ListCompaniesRequest', request).id) };
}

/** Name and time zone are part of what gateways remember of a caller, so they are told. */
async function update({ invalidations }: Context, request: UpdateCompanyRequest): Promise<UpdateCompanyResponse> {
  const change = checked('UpdateCompanyRequest', request);
  return await invalidations.commit(async (tx) => {
    const company = await updateCompany(tx, change);
    if (company === undefined) throw ApiError.notFound('company');
    return { answer: { company }, pending: await forgetCompany(tx, company.id) };
  });
}

export const companyAdmin = { createCompany: create, listCompanies: list, updateCompany: update };
