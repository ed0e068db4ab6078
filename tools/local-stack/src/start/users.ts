// The users of the local installation, for its sign-in page.
import { CompanyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { openChannel, parseCallCredential } from '@truckroll/grpc';
import type { IssuerUser } from '../issuer/client.ts';

export interface AdminServices {
  /** `host:port` of the service integrations. */
  readonly address: string;
  /** The operator's, `operator.<secret>`. */
  readonly credential: string;
}

/** Most companies whose users the page lists, oldest first: load tests make thousands. */
const MOST_COMPANIES = 20;

/** Active users, those of the oldest company first. None while the service is not ready; other failures are thrown. */
export async function usersOf({ address, credential }: AdminServices): Promise<IssuerUser[]> {
  const channel = openChannel(address, { credentials: [parseCallCredential(credential)!] });
  try {
    const { companies } = await channel.client(CompanyAdminServiceService).listCompanies({});
    const users = channel.client(UserAdminServiceService);
    const lists = companies.slice(0, MOST_COMPANIES).map(async ({ id, name }) => {
      const own = (await users.listUsers({ company_id: id })).users.filter(({ active }) => active);
      return own.map(({ subject, first_name: given, last_name: family, email }) => ({ subject, name: `${given} ${family}`, email, company: { id, name } }));
    });
    return (await Promise.all(lists)).flat();
  } catch (error) {
    if ((error as { status?: number }).status === 503) return [];
    throw error;
  } finally {
    channel.close();
  }
}
