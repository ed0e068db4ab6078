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
    `${counted(plan.rows, 'row')}, ${plan.bytes.toLocaleString('en')} bytes: about ${duration(plan.seconds)} in which the company works, then a pause: writes are refused for some seconds, and at its end reads wait too.`,
  ].join('\n');
  if (begins) session.note(text);
  else session.print({ company_id: id, ...plan }, `${text}\nNothing stands in the way.`);
}

export function report(session: Session, id: string, state: MoveState | undefined, slot: Slot | undefined): void {
  const fields = { company_id: id, step: state?.step ?? null, ...(state && { began_at: formatInstant(state.began_at) }), slot: slot ?? null };
  session.print(fields, [nextOf(id, state), ...(slot === undefined ? [] : [inWords(slot, state !== undefined && isBefore(state.step, 'moved'))])].join('\n'));
}

function nextOf(id: string, state: MoveState | undefined): string {
  if (state === undefined) return `No move of the company ${id} is under way.`;
  const option = { deleting: ' with --confirm', 'giving up': ' with --abort' }[state.step as string] ?? '';
  const next =
    state.step === 'moved'
      ? `The company ${id} is in the other cell. Here it can be read as it was until you run this with --confirm, which deletes it here.`
      : `The move of the company ${id} is at the step "${state.step}": run the command again${option} to continue.`;
  return `${next} It began at ${formatInstant(state.began_at)}.`;
}
