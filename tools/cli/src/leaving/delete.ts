// `truckroll company delete`: every service removes what it has of the company (docs/adr/0024).
import { ApiError, formatInstant, isUuid, owners, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService, type Erasure, type GetErasureResponse } from '@truckroll/contract/gen/records/v1/erasures';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { UNIMPLEMENTED } from '../import/send.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';

interface Rows {
  service: Owner;
  table: string;
  rows: number;
}

export async function deleteCompany(session: Session, id: string, name: string | undefined): Promise<void> {
  if (!isUuid(id)) throw new Failure(`${id} is no id of a company: see the ids with \`truckroll company list\`.`, EXIT.usage);
  const found = await statesOf(session, id);
  // Integrations knows companies, and is the first to begin.
  const begun = found.get('integrations')?.erasure != null;
  // All of them: a call that names one would be recorded with its id.
  const { companies } = await session.client('integrations', CompanyAdminServiceService).listCompanies({});
  const company = companies.find((each) => each.id === id);
  if (!begun && company === undefined) throw new Failure(`There is no company ${id}: see the ids with \`truckroll company list\`.`, EXIT.refused);

  const left = rowsOf(found, ({ left: rows }) => rows);
  if (isOver(found) && left.length === 0) return report(session, id, new Map([...found].map(([service, { erasure }]) => [service, erasure as Erasure])));
  if (!begun && name === undefined) {
    const text = `${table(left, COLUMNS, 'No service has a row of it.')}\nNothing was deleted. This deletes the company for good:\n  truckroll company delete ${id} --yes-delete ${JSON.stringify(company?.name)}`;
    return session.print({ company_id: id, deleted: false, left }, text);
  }
  if (!begun && name !== company?.name) {
    throw new Failure(`The company ${id} is called ${JSON.stringify(company?.name)}: give exactly this name in --yes-delete.`, EXIT.refused);
  }
  report(session, id, await erase(session, id, name ?? ''));
}

/** Asks every service first: one of a release before this command would keep its data. */
async function statesOf(session: Session, id: string): Promise<Map<Owner, GetErasureResponse>> {
  const answers = owners.map(async (service) => {
    try {
      return [service, await session.channel(service).client(ErasureServiceService).getErasure({ company_id: id })] as const;
    } catch (error) {
      if (error instanceof ApiError && (error.cause as { code?: number } | undefined)?.code === UNIMPLEMENTED) {
        throw new Failure(`${service} is of a release that cannot delete companies: upgrade it first. Nothing was deleted.`, EXIT.refused, error);
      }
      throw session.away(service, error);
    }
  });
  return new Map(await Promise.all(answers));
}

const isOver = (found: ReadonlyMap<Owner, GetErasureResponse>): boolean => [...found.values()].every(({ erasure }) => erasure?.ended_at != null);

/** Integrations closes the company before the others begin. Resolves when nothing is left. */
async function erase(session: Session, id: string, name: string): Promise<Map<Owner, Erasure>> {
  const states = new Map<Owner, Erasure>();
  const progress = createProgress(session.io, 'deleting', 'rows', session.json);
  const follow = async (service: Owner, closed?: () => void): Promise<void> => {
    try {
      const answers = session.channel(service).client(ErasureServiceService).eraseCompany({ company_id: id, name }, { signal: session.io.signal });
      for await (const { erasure } of answers) {
        closed?.();
        if (erasure != null) states.set(service, erasure);
        const rows = [...states.values()].flatMap(({ removed }) => removed).reduce((sum, each) => sum + each.rows, 0);
        progress.update(rows, rows, undefined);
      }
    } catch (error) {
      throw session.away(service, error);
    }
  };
  try {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const first = follow('integrations', resolve);
    await Promise.race([closed, first]);
    await Promise.all([first, ...owners.filter((service) => service !== 'integrations').map((service) => follow(service))]);
  } finally {
    progress.end();
  }
  return states;
}

function report(session: Session, id: string, states: ReadonlyMap<Owner, Erasure>): void {
  const all = [...states.values()];
  const begunAt = formatInstant(Math.min(...all.map(({ begun_at }) => begun_at ?? Infinity)));
  const endedAt = formatInstant(Math.max(...all.map(({ ended_at }) => ended_at ?? 0)));
  const removed = rowsOf(states, (erasure) => erasure.removed);
  const text = `${table(removed, COLUMNS, 'No service had a row of it.')}\nThe company ${id} was deleted between ${begunAt} and ${endedAt}. What backups and event topics still have, and for how long: docs/how-to/when-a-company-leaves.md`;
  session.print({ company_id: id, deleted: true, begun_at: begunAt, ended_at: endedAt, removed }, text);
}

function rowsOf<T>(found: ReadonlyMap<Owner, T>, rows: (of: T) => readonly { table: string; rows: number }[]): Rows[] {
  const all = [...found].flatMap(([service, of]) => rows(of).map((each): Rows => ({ service, ...each })));
  return all.toSorted((a, b) => owners.indexOf(a.service) - owners.indexOf(b.service) || (a.table < b.table ? -1 : 1));
}

const COLUMNS = { service: (row: Rows) => row.service, table: (row: Rows) => row.table, rows: (row: Rows) => String(row.rows) };
