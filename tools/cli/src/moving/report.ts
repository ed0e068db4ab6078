// What the command prints of a move.
import { formatInstant } from '@truckroll/contract';
import { counted, duration } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';
import { openServices, type Cell } from './cells.ts';
import type { Plan } from './check.ts';
import { inWords, slotOf } from './slot.ts';
import { isArriving, isAtWork, isBefore, stateOf, type MoveState } from './state.ts';
import { hasCompany } from './tables.ts';

/** Number of tables that are shown. */
const SHOWN = 10;

export function showPlan(session: Session, id: string, plan: Plan, begins = false): void {
  const rows = plan.tables.toSorted((a, b) => b.bytes - a.bytes);
  const others = rows.length - SHOWN;
  const text = [
    table(rows.slice(0, SHOWN), { TABLE: (row) => row.table, ROWS: (row) => String(row.rows), BYTES: (row) => String(row.bytes) }, 'The company has no row.'),
    ...(others > 0 ? [`and ${counted(others, 'smaller table')}: all of them with --json`] : []),
    `${counted(plan.rows, 'row')}, ${plan.bytes.toLocaleString('en')} bytes: about ${duration(plan.seconds)} in which the company works, then a pause: writes wait or are refused for about a second, and at its end reads wait too.`,
  ].join('\n');
  if (begins) session.note(text);
  else session.print({ company_id: id, ...plan }, `${text}\nNothing stands in the way.`);
}

/** Prints how far a move is. `own`: this command has its lock. */
export async function showState(session: Session, from: Cell, id: string, own = false): Promise<void> {
  const atWork = !own && (await isAtWork(from, id));
  const [state, slot, arrives] = [await stateOf(from, id), await slotOf(from, id), await isArriving(from, id)];
  const here = state !== undefined || (await hasCompany(from.db, id));
  const open = here ? (await openServices(from, id)).length > 0 : null;
  const began = state && { began_at: formatInstant(state.began_at) };
  const fields = { company_id: id, step: state?.step ?? null, at_work: atWork, arrives, ...began, open_here: open, slot: slot ?? null };
  const none = arrives
    ? `The move that brings the company ${id} here has not ended: go on in the cell that it leaves.`
    : `No move of the company ${id} is under way${atWork ? ', but a command is about to begin one' : ''}.`;
  const words = state ? `${stepInWords(id, state, open, atWork)} It began at ${began!.began_at}.` : none;
  session.print(fields, [words, ...(slot ? [inWords(slot, state !== undefined && isBefore(state.step, 'moved'))] : [])].join('\n'));
}

function stepInWords(id: string, { step }: MoveState, open: boolean | null, atWork: boolean): string {
  if (atWork) return `The move of the company ${id} is at the step "${step}", and a command is at work on it.`;
  if (step === 'moved' && open)
    return `The company ${id} is in the other cell, but can be changed here, as after a restore of this cell: run the command again without --status, which freezes it here.`;
  if (step === 'moved')
    return `The company ${id} is in the other cell. What this cell has of it stays until you run this with --confirm, which looks whether it is still there, and deletes it here.`;
  const option = { deleting: ' with --confirm', 'giving up': ' with --abort' }[step as string] ?? '';
  const refused = open === false && (step === 'closing' || step === 'opening') ? ', and its requests may be refused until it goes on' : '';
  return `The move of the company ${id} is at the step "${step}"${refused}: run the command again${option} to continue.`;
}
