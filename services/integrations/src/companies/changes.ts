import type { OwnedKind } from '@truckroll/change-feed';
import { Company } from '@truckroll/contract/gen/integrations/v1/company';
import type { Database } from '@truckroll/postgres';
import { publicCompany } from './read.ts';
import { selectCompanies } from './store.ts';

/** The kind `company` of the change feed (decisions §14): one record, whose id is the company's. */
export function companyKind(database: Database): OwnedKind {
  return {
    kind: 'company',
    table: '(select id as company_id, id, change_version from companies) companies',
    async read({ companyId }, ids) {
      const [company] = await selectCompanies(database, companyId);
      return ids.map((id) => (company === undefined ? undefined : { id, record: Company.encode(publicCompany(company)).finish() }));
    },
  };
}
