// Progress of a move: a row of integrations.moves in each cell. The source's row names the step that is next, or under way.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Cell } from './cells.ts';

/** In order. Up to `closing` the move can be given up. */
export const STEPS = ['copying', 'following', 'closing', 'opening', 'clearing', 'moved', 'deleting'] as const;
export type MoveStep = (typeof STEPS)[number] | 'giving up';

export interface MoveState {
  readonly other: string;
  readonly step: MoveStep;
  /** Microseconds. */
  readonly began_at: number;
}

export async function stateOf({ db }: Cell, companyId: string): Promise<MoveState | undefined> {
  const text = 'select other, step, began_at from integrations.moves where company_id = $1 and not arrives';
  return (await db.query<MoveState>({ text, values: [companyId] })).rows[0];
}

/** The other cell's first: without its row, nothing of the company may be deleted there. */
export async function begin(from: Cell, to: Cell, companyId: string): Promise<MoveState> {
  const text = 'insert into integrations.moves (company_id, arrives, other, step) values ($1, $2, $3, $4) on conflict do nothing';
  await to.db.query({ text, values: [companyId, true, from.identity, 'arriving'] });
  await from.db.query({ text, values: [companyId, false, to.identity, STEPS[0]] });
  return (await stateOf(from, companyId))!;
}

export async function enter({ db }: Cell, companyId: string, step: MoveStep): Promise<void> {
  await db.query({ text: 'update integrations.moves set step = $2 where company_id = $1', values: [companyId, step] });
}

export async function forget({ db }: Cell, companyId: string): Promise<void> {
  await db.query({ text: 'delete from integrations.moves where company_id = $1', values: [companyId] });
}

/** Throws unless the cell knows that the company arrives or has arrived: without that, its rows there are not those of this move. */
export async function requireArriving({ db, title }: Cell, companyId: string): Promise<void> {
  const { rowCount } = await db.query({ text: 'select from integrations.moves where company_id = $1 and arrives', values: [companyId] });
  if (rowCount === 0)
    throw new Failure(`${title} knows nothing of the move, as after a restore of its database. Nothing of the company was deleted.`, EXIT.refused);
}
