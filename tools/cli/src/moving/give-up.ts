// `truckroll company move --abort`: the company stays where it is.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { refuseMoved } from '@truckroll/outbox';
import type { Session } from '../session.ts';
import { openServices, withCell, type Cell, type Moving } from './cells.ts';
import { feedLeaves } from './feed.ts';
import { closeIn, unfreezeIn } from './freeze.ts';
import { forgetPlace, staysHere, staysHereAlone } from './places.ts';
import { removeRows } from './remove.ts';
import { unpublish, unsubscribe } from './replicate.ts';
import { alone, arrivalOf, enter, forget, isBefore, stateOf, type MoveState } from './state.ts';
import { hasCompany, tablesWith } from './tables.ts';

/** `--abort`: the company stays here, and what has arrived there is deleted. */
export async function giveUp(moving: Moving, state: MoveState | undefined): Promise<void> {
  const { session, from, to, id, signal } = moving;
  const arrival = await arrivalOf(from, to, id);
  if (state === undefined && (arrival === undefined || !(await hasCompany(from.db, id)))) throw noMove(id);
  if (arrival === 'open')
    throw new Failure(`The company ${id} is in the other cell already: go on without --abort. The way back is another move.`, EXIT.refused);
  requireNotDeleting(id, state);
  if (arrival === undefined) await requireNothing(to, id);
  await enter(from, id, 'giving up');
  session.note('giving up: the company stays here');
  await staysHere(moving);
  // Else the other cell has what --without-other has left there, or a restore of this cell.
  if (state !== undefined) await unfreezeIn(from.session, id, true);
  await unsubscribe(to, id);
  await unpublish(from, id, signal);
  // Not if it died between the two deletions below.
  if (arrival !== undefined) {
    // A restore may have ended its freeze.
    if ((await openServices(to, id)).length > 0) await closeIn(to.session, id);
    await removeRows(to, id, false, signal);
    await feedLeaves(to, id, signal);
    await forgetPlace(to, id);
    await refuseMoved(to.db, id);
    await unfreezeIn(to.session, id, false);
    await forget(to, id);
  }
  await forget(from, id);
  session.print({ company_id: id, moved: false }, `The move of the company ${id} was given up: it can be changed here, and nothing of it is left there.`);
}

/** `--abort --without-other`: the other cell is gone, with what has arrived there, and with `loses` what was changed there. */
export async function giveUpAlone(session: Session, id: string, loses: boolean): Promise<void> {
  await withCell('this cell', session, async (from) => {
    await alone(from, id);
    const state = await stateOf(from, id);
    if (state === undefined) throw noMove(id);
    requireNotDeleting(id, state);
    if (!isBefore(state.step, 'opening') && !loses) {
      throw new Failure(
        `The company ${id} is in the other cell, or about to be. If that cell is gone for good, with what was changed there, add --lose-changes: ` +
          'the company goes on here, as it was when it was frozen.',
        EXIT.refused,
      );
    }
    await enter(from, id, 'giving up');
    session.note('giving up: the company stays here');
    await staysHereAlone(from, id);
    await unfreezeIn(session, id, true);
    await unpublish(from, id, session.io.signal);
    await forget(from, id);
    session.print({ company_id: id, moved: false }, `The move of the company ${id} was given up: it can be changed here. The other cell was not asked.`);
  });
}

const noMove = (id: string): Failure => new Failure(`No move of the company ${id} is under way.`, EXIT.refused);

function requireNotDeleting(id: string, state: MoveState | undefined): void {
  if (state?.step !== 'deleting') return;
  throw new Failure(`The company ${id} is in the other cell, and a part of it is deleted here: go on with --confirm.`, EXIT.refused);
}

/** This cell knows nothing of a move by which the other one has taken the company over. */
export const unknownMove = (id: string): Failure =>
  new Failure(
    'The other cell has taken the company over by a move of which this cell knows nothing, as after a restore of this cell, or after --lose-changes. ' +
      `Find out which cell has its newest records, run \`delete from integrations.moves where company_id = '${id}'\` in the other cell, ` +
      'and settle it with `truckroll cells settle`.',
    EXIT.refused,
  );

/** Throws Failure if the other cell, which knows nothing of the move, has rows of the company: they are of another time, or the newest. */
async function requireNothing({ db }: Cell, id: string): Promise<void> {
  if ((await tablesWith(db, id)).length === 0) return;
  throw new Failure(
    'The other cell knows nothing of the move, but has rows of the company. Find out which cell has its newest records, ' +
      `run \`delete from integrations.moves where company_id = '${id}'\` here, and settle it with \`truckroll cells settle\`.`,
    EXIT.refused,
  );
}
