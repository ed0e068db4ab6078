// What the command prints of a move.
import { formatInstant } from '@truckroll/contract';
import { counted, duration } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';
import type { Plan } from './check.ts';
import { inWords, type Slot } from './slot.ts';
import { isBefore, type MoveState } from './state.ts';

export function showPlan(session: Session, id: string, plan: Plan, begins = false): void {
  const rows = plan.tables.toSorted((a, b) => b.bytes - a.bytes);
  const text = [
    table(rows, { TABLE: (row) => row.table, ROWS: (row) => String(row.rows), BYTES: (row) => String(row.bytes) }, 'The company has no row.'),
    `${counted(plan.rows, 'row')}, ${plan.bytes.toLocaleString('en')} bytes: about ${duration(plan.seconds)} in which the company works, then a pause: writes wait or are refused for about a second, and at its end reads wait too.`,
  ].join('\n');
  if (begins) session.note(text);
  else session.print({ company_id: id, ...plan }, `${text}\nNothing stands in the way.`);
}

/** `open`: whether the company can be changed here; null if it is not here. */
export function report(session: Session, id: string, state: MoveState | undefined, slot: Slot | undefined, open: boolean | null): void {
  const fields = { company_id: id, step: state?.step ?? null, ...(state && { began_at: formatInstant(state.began_at) }), open_here: open, slot: slot ?? null };
  const needed = state !== undefined && isBefore(state.step, 'moved');
  const words = state ? `${stepInWords(id, state, open)} It began at ${formatInstant(state.began_at)}.` : `No move of the company ${id} is under way.`;
  session.print(fields, [words, ...(slot === undefined ? [] : [inWords(slot, needed)])].join('\n'));
}

function stepInWords(id: string, { step }: MoveState, open: boolean | null): string {
  if (step === 'moved' && open)
    return `The company ${id} is in the other cell, but can be changed here, as after a restore of this cell: run the command again without --status, which freezes it here.`;
  if (step === 'moved')
    return `The company ${id} is in the other cell. Here it can be read as it was until you run this with --confirm, which looks whether it is still there, and deletes it here.`;
  const option = { deleting: ' with --confirm', 'giving up': ' with --abort' }[step as string] ?? '';
  return `The move of the company ${id} is at the step "${step}": run the command again${option} to continue.`;
}
