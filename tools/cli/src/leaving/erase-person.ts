// `truckroll person erase`: every service erases what it shows of the person (docs/adr/0024).
import { formatInstant, isUuid, owners, type Owner } from '@truckroll/contract';
import { ErasureServiceService, type GetPersonResponse, type PersonErasure } from '@truckroll/contract/gen/records/v1/erasures';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import { isUnimplemented } from '../import/send.ts';
import type { Session } from '../session.ts';

interface Named {
  company_id: string;
  kind: string;
  id: string;
}

interface Rows {
  service: Owner;
  table: string;
  rows: number;
}

export async function erasePerson(session: Session, person: Named, name: string | undefined): Promise<void> {
  for (const id of [person.company_id, person.id]) if (!isUuid(id)) throw new Failure(`${id} is no id: give a UUID.`, EXIT.usage);
  const found = await statesOf(session, person);
  const known = found.get('scheduling')?.name;
  // Scheduling knows people, and is the first to begin.
  const begun = found.get('scheduling')?.erasure != null;
  if (!begun && known == null) throw new Failure(`The company ${person.company_id} has no record ${person.id} among its ${person.kind}.`, EXIT.refused);
  if (isOver(found) && name === undefined)
    return report(session, person, new Map([...found].map(([service, { erasure }]) => [service, erasure as PersonErasure])));
  if (name === undefined) {
    const command = `truckroll person erase ${person.kind} ${person.id} --company ${person.company_id} --yes-erase ${JSON.stringify(known)}`;
    const state = begun ? 'The erasure has begun, and not every service has ended it.' : `This is ${JSON.stringify(known)}. Nothing was erased.`;
    const text = `${state} This erases the person for good, wherever the name is shown:\n  ${command}`;
    return session.print({ ...person, name: known, erased: false }, text);
  }
  if (!begun && name !== known) {
    throw new Failure(`The record has the name ${JSON.stringify(known)}: give exactly this name in --yes-erase.`, EXIT.refused);
  }
  report(session, person, await erase(session, person, name ?? ''));
}

/** Asks every service first: one of a release before this command would keep the name. */
async function statesOf(session: Session, person: Named): Promise<Map<Owner, GetPersonResponse>> {
  const answers = owners.map(async (service) => {
    try {
      return [service, await session.channel(service).client(ErasureServiceService).getPerson(person)] as const;
    } catch (error) {
      if (isUnimplemented(error)) {
        throw new Failure(`${service} is of a release that cannot erase people: upgrade it first. Nothing was erased.`, EXIT.refused, error);
      }
      throw session.away(service, error);
    }
  });
  return new Map(await Promise.all(answers));
}

const isOver = (found: ReadonlyMap<Owner, GetPersonResponse>): boolean => [...found.values()].every(({ erasure }) => erasure?.ended_at != null);

/** Scheduling compares the name before the others begin. Resolves when nothing is left. */
async function erase(session: Session, person: Named, name: string): Promise<Map<Owner, PersonErasure>> {
  const states = new Map<Owner, PersonErasure>();
  const progress = createProgress(session.io, 'erasing', 'rows', session.json);
  const follow = async (service: Owner, begun?: () => void): Promise<void> => {
    try {
      const answers = session
        .channel(service)
        .client(ErasureServiceService)
        .erasePerson({ ...person, name }, { signal: session.io.signal });
      for await (const { erasure } of answers) {
        begun?.();
        if (erasure != null) states.set(service, erasure);
        const rows = [...states.values()].flatMap(({ changed }) => changed).reduce((sum, each) => sum + each.rows, 0);
        progress.update(rows, rows, undefined);
      }
    } catch (error) {
      throw session.away(service, error);
    }
  };
  try {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const first = follow('scheduling', resolve);
    await Promise.race([begun, first]);
    // Each service goes on by itself once it has begun, so one that is away keeps none of the others from beginning.
    const all = await Promise.allSettled([first, ...owners.filter((service) => service !== 'scheduling').map((service) => follow(service))]);
    for (const outcome of all) if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    progress.end();
  }
  return states;
}

function report(session: Session, person: Named, states: ReadonlyMap<Owner, PersonErasure>): void {
  const all = [...states.values()];
  const begunAt = formatInstant(Math.min(...all.map(({ begun_at }) => begun_at ?? Infinity)));
  const endedAt = formatInstant(Math.max(...all.map(({ ended_at }) => ended_at ?? 0)));
  const changed = [...states].flatMap(([service, erasure]) => erasure.changed.map((each): Rows => ({ service, ...each })));
  const sorted = changed.toSorted((a, b) => owners.indexOf(a.service) - owners.indexOf(b.service) || (a.table < b.table ? -1 : 1));
  const text = `${table(sorted, COLUMNS, 'No service had a row with the name.')}\nThe person was erased between ${begunAt} and ${endedAt}. What other texts, event topics and backups still have: docs/how-to/when-a-company-leaves.md`;
  session.print({ ...person, erased: true, begun_at: begunAt, ended_at: endedAt, changed: sorted }, text);
}

const COLUMNS = { service: (row: Rows) => row.service, table: (row: Rows) => row.table, rows: (row: Rows) => String(row.rows) };
