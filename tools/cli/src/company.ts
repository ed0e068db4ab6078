import { CompanyAdminServiceService, type CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from './session.ts';

/** The company with this id. Throws Failure if there is none. */
export async function knownCompany(session: Session, id: string): Promise<CompanyAccount> {
  const { companies } = await session.client('integrations', CompanyAdminServiceService).listCompanies({ id });
  const [company] = companies;
  if (company === undefined) throw new Failure('There is no company with this id: see the ids with `truckroll company list`.', EXIT.refused);
  return company;
}
