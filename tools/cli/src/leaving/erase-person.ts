// `truckroll person erase`: integrations records it, and every service erases what it shows of the person (docs/adr/0024).
import { randomUUID } from 'node:crypto';
import { isUuid } from '@truckroll/contract';
import { CompanyAdminServiceService, type CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService, type GetPersonResponse } from '@truckroll/contract/gen/records/v1/erasures';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';
import { findMentions, listMentions, type Mentions } from './mentions.ts';
import { askAll, frozenFirst, isOver, listRows, orInterrupted, summary, untilOver, type States, type Work } from './services.ts';

const INTERRUPTED =
  'Interrupted: the person is erased, and texts of other records were not searched. Another run with --yes-erase "<name>" looks for that name alone.';

interface Named {
  company_id: string;
  kind: string;
  id: string;
}

export async function erasePerson(session: Session, given: Named, name: string | undefined): Promise<void> {
  for (const id of [given.company_id, given.id]) if (!isUuid(id)) throw new Failure(`${id} is no id: give a UUID.`, EXIT.usage);
  const person = { ...given, company_id: given.company_id.toLowerCase(), id: given.id.toLowerCase() };
  // Each service records the first look only.
  const options = { requestId: randomUUID(), signal: session.io.signal };
  const ask = (): Promise<States<GetPersonResponse>> => askAll(session, ErasureServiceService, 'erase people', (service) => service.getPerson(person, options));
  const found = await ask();
  const admin = session.client('integrations', CompanyAdminServiceService);
  // Integrations is the first to begin.
  const begun = found.get('integrations')?.erasure;
  let askedAt = begun?.asked_at ?? 0;
  const before = worksOf(found, askedAt);
  if (begun == null) {
    const known = [...found.values()].map((each) => each.name).find((each) => each != null);
    if (known == null) throw new Failure(`The company ${person.company_id} has no record ${person.id} among its ${person.kind}.`, EXIT.refused);
    if (name === undefined) {
      const command = `truckroll person erase ${person.kind} ${person.id} --company ${person.company_id} --yes-erase ${JSON.stringify(known)}`;
      const { companies } = await admin.listCompanies({ id: person.company_id });
      const { first, frozen_at } = frozenFirst(companies[0] as CompanyAccount);
      const text = `This is ${JSON.stringify(known)}. Nothing was erased. ${first}This erases the person for good, wherever the name is shown:\n  ${command}`;
      return session.print({ ...person, name: known, erased: false, frozen_at }, text);
    }
    if (name !== known) {
      throw new Failure(`The record has the name ${JSON.stringify(known)}: give exactly this name in --yes-erase.`, EXIT.refused);
    }
  } else if (!isOver(before)) {
    session.note(`The erasure of ${person.id} has begun and cannot be stopped: this waits for its end.`);
  } else if (name === undefined) {
    return report(session, person, before);
  }
  if (begun == null || isOver(before)) {
    const answer = await admin.erasePerson(person);
    askedAt = answer.asked_at;
  }
  const works = await untilOver(session, 'erasing', async () => worksOf(await ask(), askedAt));
  // What the record had is known to the run that began the erasure only.
  const texts = new Set([...(name === undefined ? [] : [name]), ...[...found.values()].flatMap(({ known_by }) => known_by)]);
  const looking = texts.size === 0 ? undefined : findMentions(session, person.company_id, [...texts]);
  const looked = looking && (await orInterrupted(session, looking, INTERRUPTED));
  report(session, person, works, looked);
}

/** A service that knows only of an earlier erasure has not begun. */
function worksOf(found: States<GetPersonResponse>, askedAt: number): States<Work | undefined> {
  const work = ({ erasure }: GetPersonResponse): Work | undefined =>
    erasure == null || erasure.asked_at < askedAt ? undefined : { ...erasure, rows: erasure.changed };
  return new Map([...found].map(([service, state]) => [service, work(state)]));
}

function report(session: Session, person: Named, works: States<Work>, mentions?: Mentions): void {
  const { rows: changed, ...times } = summary(works);
  const said = `The person was erased between ${times.begun_at} and ${times.ended_at}. What event topics and backups still have: docs/how-to/when-a-company-leaves.md`;
  const texts = [listRows(changed, 'No service had a row with the name.'), said, ...(mentions === undefined ? [] : [listMentions(mentions)])];
  session.print({ ...person, erased: true, ...times, changed, ...mentions }, texts.join('\n'));
}
