// `truckroll company delete`: integrations ends the company's access, and every service removes what it has of it (docs/adr/0024).
import { formatInstant, isUuid, owners, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService, type Erasure, type GetErasureResponse } from '@truckroll/contract/gen/records/v1/erasures';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { pause } from '@truckroll/process';
import { isUnimplemented } from '../import/send.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';

/** Interval between looks, and time after which it says what a service waits for, in ms. */
const LOOK_MS = 500;
const SAY_MS = 10_000;
/** What a service waits for that has not begun. */
const BEGINNING = 'word from integrations, by the topic truckroll.integrations.erasures, which it must be able to read';

interface Rows {
  service: Owner;
  table: string;
  rows: number;
}

type States = ReadonlyMap<Owner, GetErasureResponse>;

export async function deleteCompany(session: Session, given: string, name: string | undefined): Promise<void> {
  if (!isUuid(given)) throw new Failure(`${given} is no id of a company: see the ids with \`truckroll company list\`.`, EXIT.usage);
  const id = given.toLowerCase();
  const found = await statesOf(session, id, true);
  const admin = session.client('integrations', CompanyAdminServiceService);
  // All of them: a call that names one would be recorded with its id.
  const { companies } = await admin.listCompanies({});
  const company = companies.find((each) => each.id === id);
  // Integrations is the first to begin.
  const begun = found.get('integrations')?.erasure != null;
  if (!begun) {
    if (company === undefined) throw new Failure(`There is no company ${id}: see the ids with \`truckroll company list\`.`, EXIT.refused);
    if (name === undefined) {
      const left = rowsOf(found, ({ left: rows }) => rows);
      const text = `${table(left, COLUMNS, 'No service has a row of it.')}\nNothing was deleted. This deletes the company for good:\n  truckroll company delete ${id} --yes-delete ${JSON.stringify(company.name)}`;
      return session.print({ company_id: id, deleted: false, left }, text);
    }
    if (name !== company.name) {
      throw new Failure(`The company ${id} is called ${JSON.stringify(company.name)}: give exactly this name in --yes-delete.`, EXIT.refused);
    }
    await admin.deleteCompany({ id, name });
  } else if (!isOver(found)) {
    session.note(`The deletion of ${id} has begun and cannot be stopped: this waits for its end.`);
  }
  report(session, id, begun && isOver(found) ? found : await untilOver(session, id));
}

/** Refuses while one replica that answers is of a release before this command, which would keep its data. */
async function statesOf(session: Session, id: string, count: boolean): Promise<States> {
  const answers = owners.map(async (service) => {
    try {
      const answer = await session.channel(service).client(ErasureServiceService).getErasure({ company_id: id, count }, { signal: session.io.signal });
      return [service, answer] as const;
    } catch (error) {
      if (isUnimplemented(error)) {
        throw new Failure(`${service} is of a release that cannot delete companies: upgrade it first.`, EXIT.refused, error);
      }
      throw session.away(service, error);
    }
  });
  return new Map(await Promise.all(answers));
}

const isOver = (states: States): boolean => [...states.values()].every(({ erasure }) => erasure?.ended_at != null);

/** Resolves when nothing is left. The services go on without this. */
async function untilOver(session: Session, id: string): Promise<States> {
  const progress = createProgress(session.io, 'deleting', 'rows', session.json);
  const waits = new Map<Owner, { for: string | undefined; looks: number }>();
  try {
    for (;;) {
      const states = await statesOf(session, id, false);
      if (isOver(states)) return states;
      for (const [service, { erasure }] of states) {
        const waitsFor = erasure == null ? BEGINNING : (erasure.waits_for ?? undefined);
        const before = waits.get(service);
        const looks = before !== undefined && before.for === waitsFor ? before.looks + 1 : 0;
        waits.set(service, { for: waitsFor, looks });
        if (waitsFor === undefined || looks !== SAY_MS / LOOK_MS) continue;
        progress.clear();
        session.note(`${service} waits for ${waitsFor}.`);
      }
      const rows = rowsOf(states, ({ erasure }) => erasure?.removed ?? []).reduce((sum, each) => sum + each.rows, 0);
      progress.update(rows, rows, undefined);
      await pause(LOOK_MS, session.io.signal);
      session.io.signal.throwIfAborted();
    }
  } finally {
    progress.end();
  }
}

function report(session: Session, id: string, states: States): void {
  const all = [...states.values()].map(({ erasure }) => erasure as Erasure);
  const begunAt = formatInstant(Math.min(...all.map(({ begun_at }) => begun_at ?? Infinity)));
  const endedAt = formatInstant(Math.max(...all.map(({ ended_at }) => ended_at ?? 0)));
  const removed = rowsOf(states, ({ erasure }) => erasure?.removed ?? []);
  const text = `${table(removed, COLUMNS, 'No service had a row of it.')}\nThe company ${id} was deleted between ${begunAt} and ${endedAt}. What backups and event topics still have, and for how long: docs/how-to/when-a-company-leaves.md`;
  session.print({ company_id: id, deleted: true, begun_at: begunAt, ended_at: endedAt, removed }, text);
}

function rowsOf(states: States, rows: (of: GetErasureResponse) => readonly { table: string; rows: number }[]): Rows[] {
  const all = [...states].flatMap(([service, of]) => rows(of).map((each): Rows => ({ service, ...each })));
  return all.toSorted((a, b) => owners.indexOf(a.service) - owners.indexOf(b.service) || (a.table < b.table ? -1 : 1));
}

const COLUMNS = { service: (row: Rows) => row.service, table: (row: Rows) => row.table, rows: (row: Rows) => String(row.rows) };
