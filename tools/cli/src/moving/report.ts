// What the command prints of a move.
import { formatInstant } from '@truckroll/contract';
import { counted, duration } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';
import type { Plan } from './check.ts';
import { inWords, type Slot } from './slot.ts';
import { isBefore, type MoveState } from './state.ts';

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

/** `open`: whether the company can be changed here; null if it is not here. `atWork`: whether another command goes on with the move. */
export function report(session: Session, id: string, state: MoveState | undefined, slot: Slot | undefined, open: boolean | null, atWork: boolean): void {
  const progress = { step: state?.step ?? null, at_work: atWork, ...(state && { began_at: formatInstant(state.began_at) }) };
  const fields = { company_id: id, ...progress, open_here: open, slot: slot ?? null };
  const needed = state !== undefined && isBefore(state.step, 'moved');
  const words = state
    ? `${stepInWords(id, state, open, atWork)} It began at ${formatInstant(state.began_at)}.`
    : `No move of the company ${id} is under way${atWork ? ', but a command is about to begin one' : ''}.`;
  session.print(fields, [words, ...(slot === undefined ? [] : [inWords(slot, needed)])].join('\n'));
}

function stepInWords(id: string, { step }: MoveState, open: boolean | null, atWork: boolean): string {
  if (atWork) return `The move of the company ${id} is at the step "${step}", and a command is at work on it.`;
  if (step === 'moved' && open)
    return `The company ${id} is in the other cell, but can be changed here, as after a restore of this cell: run the command again without --status, which freezes it here.`;
  if (step === 'moved')
    return `The company ${id} is in the other cell. Here it can be read as it was until you run this with --confirm, which looks whether it is still there, and deletes it here.`;
  const option = { deleting: ' with --confirm', 'giving up': ' with --abort' }[step as string] ?? '';
  return `The move of the company ${id} is at the step "${step}": run the command again${option} to continue.`;
}
