import { ApiError, messageJson, refused, topics } from '@truckroll/contract';
import {
  CompanyAccount,
  type CreateCompanyRequest,
  type CreateCompanyResponse,
  type ListCompaniesRequest,
  type ListCompaniesResponse,
  type UpdateCompanyRequest,
  type UpdateCompanyResponse,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { refuseErased, type OutgoingEvent } from '@truckroll/outbox';
import { isUniqueViolation } from '@truckroll/postgres';
import { audit } from '../audit/store.ts';
import { refuseElsewhere } from './places.ts';
import type { Context } from '../context.ts';
import { forgetCompany } from '../identity/pending.ts';
import { checked } from '../requests.ts';
import { insertCompany, lockCompany, selectCompanies, updateCompany } from './store.ts';

async function create({ database, outbox }: Context, request: CreateCompanyRequest): Promise<CreateCompanyResponse> {
  try {
    return await database.transaction(async (tx) => {
      const company = await insertCompany(tx, checked('CreateCompanyRequest', request));
      await refuseErased(tx, company.id);
      await outbox.append(tx, [companyChanged(company)]);
      await audit(tx, { ...auditedOf(company), action: 'company.created', after: stateOf(company) });
      return { company };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw refused('id', 'A company with this id already exists: leave the id out, or change that company.');
  }
}

async function list({ database }: Context, request: ListCompaniesRequest): Promise<ListCompaniesResponse> {
  return { companies: await selectCompanies(database, checked('ListCompaniesRequest', request).id) };
}

/** Invalidates the gateways' caches, which contain the company's name and time zone. */
async function update({ invalidations, outbox }: Context, request: UpdateCompanyRequest): Promise<UpdateCompanyResponse> {
  const change = checked('UpdateCompanyRequest', request);
  return await invalidations.commit(async (tx) => {
    const before = await lockCompany(tx, change.id);
    if (before !== undefined) await refuseElsewhere(tx, before.id);
    const company = await updateCompany(tx, change);
    if (before === undefined || company === undefined) throw ApiError.notFound('company');
    await outbox.append(tx, [companyChanged(company)]);
    await audit(tx, { ...auditedOf(company), action: 'company.updated', before: stateOf(before), after: stateOf(company) });
    return { answer: { company }, pending: await forgetCompany(tx, company.id) };
  });
}

const stateOf = (company: CompanyAccount): string => messageJson('truckroll.integrations.v1.CompanyAccount', company, 'camel');
const auditedOf = ({ id }: CompanyAccount) => ({ companyId: id, object: { kind: 'company', id } });

/** For reporting, which needs the company's time zone and settings. */
export function companyChanged(company: CompanyAccount): OutgoingEvent {
  const payload = CompanyAccount.encode(company).finish();
  return { topic: topics.companies.name, key: company.id, type: 'company.changed', companyId: company.id, payload };
}

export const companyAdmin = { createCompany: create, listCompanies: list, updateCompany: update };
