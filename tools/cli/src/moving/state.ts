// Progress of a move: a row of integrations.moves in each cell. The source's row names the step that is next, or under way; that of the other
// cell what has arrived, so that a restore of its database takes this back with the rows.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Queryable } from '@truckroll/postgres';
import type { Cell } from './cells.ts';

/** The name of the move's slot, publication and subscription. */
export const nameOf = (companyId: string): string => `move_${companyId.replaceAll('-', '')}`;

/** In order. */
const STEPS = ['copying', 'following', 'closing', 'opening', 'clearing', 'moved', 'deleting'] as const;
export type MoveStep = (typeof STEPS)[number] | 'giving up';

/** Whether the step comes before the other. A move that is given up is before all of them. */
export const isBefore = (step: MoveStep, other: (typeof STEPS)[number]): boolean => STEPS.findIndex((each) => each === step) < STEPS.indexOf(other);

/** In order. The other cell has a part of the company, all of it, or all of it and takes its requests: then the move cannot be given up. */
const ARRIVALS = ['arriving', 'complete', 'open'] as const;
export type ArrivalState = (typeof ARRIVALS)[number];

export interface MoveState {
  readonly other: string;
  readonly step: MoveStep;
  /** Microseconds. */
  readonly began_at: number;
}

export async function stateOf({ db }: { readonly db: Queryable }, companyId: string): Promise<MoveState | undefined> {
  const text = 'select other, step, began_at from integrations.moves where company_id = $1 and not arrives';
  return (await db.query<MoveState>({ text, values: [companyId] })).rows[0];
}

/** The other cell's first: without its row, nothing of the company may be deleted there. */
export async function begin(from: Cell, to: Cell, companyId: string): Promise<MoveState> {
  const text = 'insert into integrations.moves (company_id, arrives, other, step) values ($1, $2, $3, $4) on conflict do nothing';
  await to.db.query({ text, values: [companyId, true, from.identity, ARRIVALS[0]] });
  await from.db.query({ text, values: [companyId, false, to.identity, STEPS[0]] });
  return (await stateOf(from, companyId))!;
}

export async function enter({ db }: Cell, companyId: string, step: MoveStep | ArrivalState): Promise<void> {
  await db.query({ text: 'update integrations.moves set step = $2 where company_id = $1', values: [companyId, step] });
}

export async function forget({ db }: Cell, companyId: string): Promise<void> {
  await db.query({ text: 'delete from integrations.moves where company_id = $1', values: [companyId] });
}

/** What has arrived in the other cell; undefined if it knows nothing of the move. */
export async function arrivalOf(from: Cell, to: Cell, companyId: string): Promise<ArrivalState | undefined> {
  const text = 'select step from integrations.moves where company_id = $1 and arrives and other = $2';
  return (await to.db.query<{ step: ArrivalState }>({ text, values: [companyId, from.identity] })).rows[0]?.step;
}

/** Whether a move that brings the company here, or has brought it, has not ended. */
export async function isArriving({ db }: { readonly db: Queryable }, id: string): Promise<boolean> {
  return (await db.query({ text: 'select from integrations.moves where company_id = $1 and arrives', values: [id] })).rowCount > 0;
}

/** Throws Failure unless at least this has arrived: the other cell's database was restored since. */
export function requireArrival(arrival: ArrivalState | undefined, least: ArrivalState): void {
  if (arrival !== undefined && ARRIVALS.indexOf(arrival) >= ARRIVALS.indexOf(least)) return;
  throw new Failure(
    `The other cell ${arrival === undefined ? 'knows nothing of the move' : 'does not have all of the company'}, as after a restore of its database. ` +
      'Nothing was changed. Give up with --abort: the company goes on here, as it was when it was frozen.',
    EXIT.refused,
  );
}

/** Until the connection ends. Throws Failure if another command is at work. */
export async function alone({ db }: Cell, id: string): Promise<void> {
  const { rowCount } = await db.query({ text: 'select where pg_try_advisory_lock(hashtextextended($1, 0))', values: [nameOf(id)] });
  if (rowCount === 0) throw new Failure(`Another command is moving the company ${id}: wait for its end, or look with --status.`, EXIT.refused);
}

/** Whether a command holds the lock of `alone`. */
export async function isAtWork({ db }: Cell, id: string): Promise<boolean> {
  const text = `select from pg_locks where locktype = 'advisory' and objsubid = 1 and database = (select oid from pg_database where datname = current_database())
    and classid::bigint << 32 | objid::bigint = hashtextextended($1, 0)`;
  return (await db.query({ text, values: [nameOf(id)] })).rowCount > 0;
}
