// `truckroll company freeze` and `unfreeze`, by the steps that a move takes too (docs/adr/0026).
import { formatInstant } from '@truckroll/contract';
import { CompanyAdminServiceService, type CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { beingMoved, companyIdOf } from './company-id.ts';
import { askAll } from './leaving/services.ts';
import { freezeIn, unfreezeIn } from './moving/freeze.ts';
import type { Session } from './session.ts';

/** Freezes and prints since when. Throws Failure if the company does not exist or is frozen already. */
export async function freezeCompany(session: Session, given: string): Promise<void> {
  const { id, company, states } = await look(session, given);
  if (company === undefined) throw new Failure(`There is no company ${id}: see the ids with \`truckroll company list\`.`, EXIT.refused);
  if (states.every(({ closed }) => closed)) {
    throw new Failure(`The company ${id} has been frozen since ${formatInstant(company.frozen_at ?? 0)}.`, EXIT.refused);
  }
  const frozen = formatInstant(await freezeIn(session, id));
  session.print({ company_id: id, frozen: true, frozen_at: frozen }, `The company ${id} is frozen since ${frozen}: it can be read, and not changed.`);
}

/** Unfreezes, also after a freeze that ended half-way, and prints the triggers that could not be removed. Throws Failure if nothing is frozen. */
export async function unfreezeCompany(session: Session, given: string): Promise<void> {
  const { id, company, states } = await look(session, given);
  if (company?.frozen_at == null && states.every(({ begun }) => !begun)) throw new Failure(`The company ${id} is not frozen.`, EXIT.refused);
  const left = await unfreezeIn(session, id, company !== undefined);
  const triggers = left.map(({ service, tables }) => `${service} still has triggers on ${tables.join(', ')}, which refuse nothing: run this again later.`);
  session.print({ company_id: id, frozen: false, left }, [`The company ${id} can be changed again.`, ...triggers].join('\n'));
}

async function look(session: Session, given: string) {
  const id = companyIdOf(given);
  const found = await askAll(session, FreezeServiceService, 'freeze companies', (service) =>
    service.getFreeze({ company_id: id }, { signal: session.io.signal }),
  );
  // It could not be unfrozen: a move freezes it too.
  const { moving } = await session.client('integrations', CellAdminServiceService).describeCell({});
  if (moving.includes(id)) throw beingMoved(id);
  const { companies } = await session.client('integrations', CompanyAdminServiceService).listCompanies({ id });
  const company: CompanyAccount | undefined = companies[0];
  return { id, company, states: [...found.values()].map(({ state }) => state ?? { begun: false, closed: false }) };
}
