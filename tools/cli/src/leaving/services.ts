// What the commands share that delete or freeze a company or erase a person: they ask every service how far it is, wait for all of them, and list rows.
import { formatInstant, owners, type Owner } from '@truckroll/contract';
import type { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Callers, Definition } from '@truckroll/grpc';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import { pause } from '@truckroll/process';
import { isUnimplemented } from '../import/send.ts';
import type { Session } from '../session.ts';

/** Interval between looks, and time after which it says what a service waits for, in ms. */
const LOOK_MS = 500;
const SAY_MS = 10_000;
/** What a service waits for that has not begun. */
const BEGINNING = 'word from integrations, by the topic truckroll.integrations.erasures, which it must be able to read';

interface TableRows {
  readonly table: string;
  readonly rows: number;
}

export interface Rows extends TableRows {
  readonly service: Owner;
}

export type States<T> = ReadonlyMap<Owner, T>;

/** Progress of a service. */
export interface Work {
  readonly begun_at?: number | null | undefined;
  readonly ended_at?: number | null | undefined;
  readonly waits_for?: string | null | undefined;
  readonly rows: readonly TableRows[];
}

/** Asks every service. Refuses while one replica that answers is of a release before this command, which would keep the data. */
export async function askAll<const D extends Definition, T>(
  session: Session,
  definition: D,
  task: string,
  ask: (service: Callers<D>) => Promise<T>,
): Promise<States<T>> {
  const answers = owners.map(async (service) => {
    try {
      return [service, await ask(session.channel(service).client(definition))] as const;
    } catch (error) {
      if (isUnimplemented(error)) throw new Failure(`${service} is of a release that cannot ${task}: upgrade it first.`, EXIT.refused, error);
      throw session.away(service, error);
    }
  });
  return new Map(await Promise.all(answers));
}

/** Since when the company is frozen, for JSON, and what to run first, for the text: what these commands do is refused until then. */
export function frozenFirst({ id, frozen_at: at }: CompanyAccount): { frozen_at: string | null; first: string } {
  if (at == null) return { frozen_at: null, first: '' };
  const since = formatInstant(at);
  const first = `The company has been frozen since ${since}, so this would be refused. First run, unless it is being moved:\n  truckroll company unfreeze ${id}\n`;
  return { frozen_at: since, first };
}

export const isOver = (works: States<Work | undefined>): works is States<Work> => [...works.values()].every((work) => work?.ended_at != null);

/** The work, and what to say if the user interrupts it. Another error says what it is. */
export async function orInterrupted<T>({ io: { signal } }: Session, work: Promise<T>, said: string): Promise<T> {
  return await work.catch((error: unknown) => {
    throw signal.aborted ? new Failure(`\n${said}`, EXIT.interrupted, error) : error;
  });
}

/** Resolves when nothing is left. The services go on without this. */
export function untilOver(session: Session, doing: string, look: () => Promise<States<Work | undefined>>): Promise<States<Work>> {
  return orInterrupted(
    session,
    wait(session, doing, look),
    `Interrupted. The services go on ${doing}, and nothing stops them. Run the same command again to wait for the end.`,
  );
}

async function wait(session: Session, doing: string, look: () => Promise<States<Work | undefined>>): Promise<States<Work>> {
  const progress = createProgress(session.io, doing, 'rows', session.json);
  const waits = new Map<Owner, { for: string | undefined; looks: number }>();
  try {
    for (;;) {
      const works = await look();
      if (isOver(works)) return works;
      for (const [service, work] of works) {
        const waitsFor = work === undefined ? BEGINNING : (work.waits_for ?? undefined);
        const before = waits.get(service);
        const looks = before !== undefined && before.for === waitsFor ? before.looks + 1 : 0;
        waits.set(service, { for: waitsFor, looks });
        if (waitsFor === undefined || looks !== SAY_MS / LOOK_MS) continue;
        progress.clear();
        session.note(`${service} waits for ${waitsFor}.`);
      }
      const rows = rowsOf(works, (work) => work?.rows ?? []).reduce((sum, each) => sum + each.rows, 0);
      progress.update(rows, rows, undefined);
      await pause(LOOK_MS, session.io.signal);
      session.io.signal.throwIfAborted();
    }
  } finally {
    progress.end();
  }
}

/** From the first beginning to the last end, and the rows of all. */
export function summary(works: States<Work>): { begun_at: string; ended_at: string; rows: Rows[] } {
  const all = [...works.values()];
  const begunAt = formatInstant(Math.min(...all.map(({ begun_at }) => begun_at ?? Infinity)));
  const endedAt = formatInstant(Math.max(...all.map(({ ended_at }) => ended_at ?? 0)));
  return { begun_at: begunAt, ended_at: endedAt, rows: rowsOf(works, ({ rows }) => rows) };
}

export function rowsOf<T>(states: States<T>, rows: (of: T) => readonly TableRows[]): Rows[] {
  const all = [...states].flatMap(([service, of]) => rows(of).map((each): Rows => ({ service, ...each })));
  return all.toSorted((a, b) => owners.indexOf(a.service) - owners.indexOf(b.service) || (a.table < b.table ? -1 : 1));
}

export function listRows(rows: readonly Rows[], none: string): string {
  return table(rows, { service: (row: Rows) => row.service, table: (row: Rows) => row.table, rows: (row: Rows) => String(row.rows) }, none);
}
