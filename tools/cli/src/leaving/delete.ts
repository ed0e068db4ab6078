// `truckroll company delete`: integrations ends the company's access, and every service removes what it has of it (docs/adr/0024).
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService, type GetErasureResponse } from '@truckroll/contract/gen/records/v1/erasures';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { companyIdOf } from '../company-id.ts';
import type { Session } from '../session.ts';
import { askAll, frozenFirst, isOver, listRows, rowsOf, summary, untilOver, type States, type Work } from './services.ts';

export async function deleteCompany(session: Session, given: string, name: string | undefined): Promise<void> {
  const id = companyIdOf(given);
  const ask = (count: boolean): Promise<States<GetErasureResponse>> =>
    askAll(session, ErasureServiceService, 'delete companies', (service) => service.getErasure({ company_id: id, count }, { signal: session.io.signal }));
  const found = await ask(true);
  const admin = session.client('integrations', CompanyAdminServiceService);
  // All of them: a call that names one would be recorded with its id.
  const { companies } = await admin.listCompanies({});
  const company = companies.find((each) => each.id === id);
  // Integrations is the first to begin.
  const begun = found.get('integrations')?.erasure != null;
  const before = worksOf(found);
  if (!begun) {
    if (company === undefined) throw new Failure(`There is no company ${id}: see the ids with \`truckroll company list\`.`, EXIT.refused);
    if (name === undefined) {
      const left = rowsOf(found, ({ left: rows }) => rows);
      const { first, frozen_at } = frozenFirst(company);
      const text = `${listRows(left, 'No service has a row of it.')}\nNothing was deleted. ${first}This deletes the company for good:\n  truckroll company delete ${id} --yes-delete ${JSON.stringify(company.name)}`;
      return session.print({ company_id: id, deleted: false, frozen_at, left }, text);
    }
    if (name !== company.name) {
      throw new Failure(`The company ${id} is called ${JSON.stringify(company.name)}: give exactly this name in --yes-delete.`, EXIT.refused);
    }
    await admin.deleteCompany({ id, name });
  } else if (!isOver(before)) {
    session.note(`The deletion of ${id} has begun and cannot be stopped: this waits for its end.`);
  }
  report(session, id, begun && isOver(before) ? before : await untilOver(session, 'deleting', async () => worksOf(await ask(false))));
}

function worksOf(states: States<GetErasureResponse>): States<Work | undefined> {
  return new Map([...states].map(([service, { erasure }]) => [service, erasure == null ? undefined : { ...erasure, rows: erasure.removed }]));
}

function report(session: Session, id: string, works: States<Work>): void {
  const { rows: removed, ...times } = summary(works);
  const text = `${listRows(removed, 'No service had a row of it.')}\nThe company ${id} was deleted between ${times.begun_at} and ${times.ended_at}. What backups and event topics still have, and for how long: docs/how-to/when-a-company-leaves.md`;
  session.print({ company_id: id, deleted: true, ...times, removed }, text);
}
