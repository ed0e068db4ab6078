// `truckroll company move` (docs/adr/0028): the steps in order. Each may be repeated from its beginning, and nothing but the row of the move
// (state.ts) remembers which is next, so that a command that died is continued by the next one.
import { publishRecordsOf as publishBilling } from '@truckroll/billing/restored';
import type { Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { counted, createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { forgetCallersOf, publishErasuresOf } from '@truckroll/integrations/restored';
import { acceptMoved, erasePeopleAgain, refuseMoved } from '@truckroll/outbox';
import { Database, type Transaction } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import { publishNamesOf, publishRecordsOf as publishScheduling } from '@truckroll/scheduling/restored';
import { companyIdOf } from '../company-id.ts';
import type { Session } from '../session.ts';
import { openServices, requireName, requireSameDatabase, together, withCell, type Cell, type Moving } from './cells.ts';
import { check } from './check.ts';
import { addMissingEntries, unequalIn, type Unequal } from './compare.ts';
import { analyzeGrown, copyRows, makeDaysOf } from './copy.ts';
import { problemsOfDeadLetters } from './dead-letters.ts';
import { feedArrives, feedHasArrived, feedLeaves, shiftFeed } from './feed.ts';
import { acceptIn, allAnswer, beginIn, closeIn, endIn, freezeIn, openAtOnce, prepareIn, removeFencesIn, unfreezeIn, untilTrailIsComplete } from './freeze.ts';
import { giveUp, giveUpAlone, unknownMove } from './give-up.ts';
import { announce, forgetPlace, holding, livesThere, staysHere, staysHereAlone } from './places.ts';
import { removeRows } from './remove.ts';
import { sourceUrl } from './reading.ts';
import { despiteOutage } from './reasons.ts';
import { hurry, publish, subscribe, unpublish, unsubscribe, untilApplied } from './replicate.ts';
import { showPlan, showState } from './report.ts';
import { readSettings } from './settings.ts';
import { alone, arrivalOf, begin, enter, forget, isBefore, requireArrival, stateOf, type ArrivalState, type MoveState, type MoveStep } from './state.ts';
import { carryingOver } from './switch.ts';
import { hasCompany, tablesOf } from './tables.ts';

export interface MoveOptions {
  readonly to?: string;
  readonly check?: true;
  readonly status?: true;
  readonly abort?: true;
  readonly confirm?: true;
  readonly withoutOther?: true;
  readonly loseChanges?: true;
}

interface Move extends Moving {
  /** What has never been found equal; undefined before anything was compared. */
  unequal?: Unequal;
  /** Whether this command has the company's requests held, and has done nothing else since. */
  held?: boolean;
  /** Number of times that the command has closed the company. */
  closings: number;
}

/** Maximum rounds of comparing, each of what the last one found unequal: rows that change often need several. */
const ROUNDS = 10;
/** Maximum pause in ms before the company is opened again, for as long. Both are twice as long each time. */
const PAUSE_MS = 3000;

export async function moveCompany(session: Session, given: string, { to: name, withoutOther, loseChanges, ...options }: MoveOptions): Promise<void> {
  const id = companyIdOf(given);
  if (Object.keys(options).length > 1) throw new Failure('Give only one of --check, --status, --abort and --confirm.', EXIT.usage);
  if (withoutOther && !options.abort) throw new Failure('Give --without-other with --abort only.', EXIT.usage);
  if (loseChanges && !withoutOther) throw new Failure('Give --lose-changes with --abort --without-other only.', EXIT.usage);
  // Both work without the other cell.
  if (withoutOther) return await giveUpAlone(session, id, loseChanges === true);
  if (options.status) return await withCell('this cell', session, (from) => showState(session, from, id));
  const others = readSettings(session, name);
  try {
    if (name !== undefined) await requireName(session, others, name);
    await withCell('this cell', session, (from) =>
      withCell('the other cell', others, (to) => run({ session, from, to, id, signal: session.io.signal, closings: 0 }, options)),
    );
  } finally {
    others.close();
  }
}

async function run(move: Move, options: MoveOptions): Promise<void> {
  const { session, from, to, id } = move;
  const found = await stateOf(from, id);
  if (found !== undefined && found.other !== to.identity)
    throw new Failure(
      `The company ${id} is being moved to another cell: give --to as when the move began, or correct ${to.variable}. Only if the server of that cell was replaced, give up with --abort --without-other.`,
      EXIT.refused,
    );
  const arrival = await arrivalOf(from, to, id);
  if (found === undefined && arrival === 'open') throw unknownMove(id);
  if (options.check) return showPlan(session, id, await check(from, to, id));
  await alone(from, id);
  if (options.abort) return await giveUp(move, found);
  if (options.confirm) return await remove(move, found);
  if (found?.step === 'giving up') throw new Failure('The move is being given up: run --abort again, with the same options, which continues.', EXIT.refused);
  if (found === undefined) showPlan(session, id, await check(from, to, id), true);
  let { step } = found ?? (await begin(from, to, id));
  const early = isBefore(step, 'opening');
  // Also what a restore opens without taking a step back.
  const late = !early && step !== 'deleting' && (arrival === 'complete' || arrival === 'open') && (await openServices(from, id)).length > 0;
  if (late || (early && arrival === 'open')) {
    session.note('this cell was restored: the other one has all of the company, which is frozen here again');
    await freezeIn(session, id);
    if (early) {
      step = 'opening';
      await enter(from, id, step);
    }
  } else if (step === 'closing') {
    // What the last command had found equal is not known any more, and comparing everything takes too long for a pause.
    requireArrival(await arrivalOf(from, to, id), 'arriving');
    await openAtOnce(move.from, move.id);
    await goOnHere(move);
    step = 'following';
    await enter(from, id, step);
  }
  for (let next = WORK[step]; next !== undefined; next = WORK[step]) {
    requireArrival(await arrivalOf(from, to, id), next.needs);
    session.note(`${step}: ${next.says}`);
    step = await next.work(move);
    // `close` has stored that one, while the company could still be opened here.
    if (step !== 'opening') await enter(from, id, step);
  }
  if (step === 'moved') requireArrival(await arrivalOf(from, to, id), 'open');
  await showState(session, from, id, true);
}

interface Work {
  readonly needs: ArrivalState;
  readonly says: string;
  /** Returns the next step. */
  readonly work: (move: Move) => Promise<MoveStep>;
}

const WORK: Readonly<Partial<Record<MoveStep, Work>>> = {
  copying: { needs: 'arriving', says: 'the company works here, and its rows are copied', work: copy },
  following: { needs: 'arriving', says: 'the other cell follows what changes, and both are compared', work: follow },
  closing: { needs: 'arriving', says: 'the company is frozen here until it is open there', work: close },
  // From here on the company is there: this step repeats only what opens it.
  opening: { needs: 'complete', says: 'the other cell takes the company over', work: open },
  clearing: { needs: 'open', says: 'subscription, slot and publication are removed', work: clear },
};

/** The other cell refuses the company's requests, and leaves its rows alone, from before the first one is there. */
async function copy(move: Move): Promise<MoveStep> {
  const { session, from, to, id, signal } = move;
  await closeIn(to.session, id);
  await requireSameDatabase(to, id).catch((error: unknown) => thaw(to, id, false, error));
  await acceptMoved(to.db, id);
  await announce(move);
  // What a command that died has copied, out of a snapshot that is lost.
  await removeRows(to, id, false, signal);
  await makeDaysOf(from, to);
  await shiftFeed(from, to, id, signal);
  const tables = await tablesOf(from.db);
  session.note('waiting for transactions of before, and for the snapshot');
  const snapshot = await publish(from, id, tables, signal);
  const progress = createProgress(session.io, 'copying', 'rows', session.json);
  let [rows, bytes] = [0, 0];
  try {
    const copied = (_: string, more: number, size: number): void => progress.update((rows += more), (bytes += size), undefined);
    await copyRows({ from, to, companyId: id, tables, snapshot: snapshot.name, signal, copied });
  } finally {
    progress.end();
    await snapshot.close();
  }
  await analyzeGrown(to);
  session.note(`copied ${counted(rows, 'row')}`);
  return 'following';
}

/** The services froze it in a database that is not part of the move, which nothing else would end. */
async function thaw(cell: Cell, id: string, known: boolean, error: unknown): Promise<never> {
  await unfreezeIn(cell.session, id, known);
  throw error;
}

async function follow(move: Move): Promise<MoveStep> {
  const { session, from, to, id, signal } = move;
  // Later, something that fails may be what has held up closing, and is waited for.
  if (move.closings === 0) await subscribe(to, id, sourceUrl(from));
  await untilApplied(from, to, id, signal);
  session.note('comparing');
  await compare(move);
  await prepareIn(from.session, id);
  await hurry(to, id);
  await untilApplied(from, to, id, signal);
  return 'closing';
}

async function compare(move: Move): Promise<Unequal> {
  const { from, to, id, signal } = move;
  for (let round = 0; round < ROUNDS && move.unequal?.size !== 0; round++) {
    if (round > 0) await untilApplied(from, to, id, signal);
    move.unequal = await unequalIn(from, to, id, move.unequal);
  }
  return move.unequal!;
}

/** The pause begins here, and ends when the other cell is open. If something fails before that has everything, the company is opened here again first. */
async function close(move: Move): Promise<MoveStep> {
  const { session, from, to, id, signal } = move;
  await enter(to, id, 'arriving');
  await allAnswer(to, id);
  const [hold, carryOver] = [await holding(move), await carryingOver(from, to, id)];
  const mostMs = PAUSE_MS * 2 ** move.closings++;
  let limit = signal;
  try {
    await beginIn(from.session, id);
    limit = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
    await closeIn(from.session, id, limit);
    await requireSameDatabase(from, id).catch((error: unknown) => thaw(from, id, true, error));
    await untilApplied(from, to, id, limit, false);
  } catch (error) {
    if (!limit.aborted || signal.aborted) return await openAndThrow(move, error);
    await openAtOnce(from, id);
    await goOnHere(move);
    await pause(mostMs, signal);
    return 'following';
  }
  session.note('frozen');
  try {
    const different = [...(await compare(move)).keys()].map(({ name }) => name);
    const problems = [
      ...(different.length > 0 ? [`The rows of ${different.join(', ')} differ: give up with --abort. Report it, unless a lagging standby was promoted.`] : []),
      ...(await problemsOfDeadLetters(from, id)),
    ];
    if (problems.length > 0) throw new Failure(['The company stays here, and can be changed again:', ...problems].join('\n  '), EXIT.refused);
    await together(signal, [hold, () => feedArrives(from, to, id).then(carryOver)]);
    await enter(to, id, 'complete');
    await enter(from, id, 'opening');
    move.held = true;
  } catch (error) {
    await openAndThrow(move, error);
  }
  session.note('the other cell has everything');
  return 'opening';
}

/** Opens the company again first: the next command may come much later. That one does what fails after the opening. */
async function openAndThrow(move: Move, error: unknown): Promise<never> {
  await openAtOnce(move.from, move.id);
  await goOnHere(move).catch(() => undefined);
  throw error;
}

/** After `openAtOnce`. A service that is away may be what has held the closing up, so the company does not wait for it. */
async function goOnHere(move: Move): Promise<void> {
  const { session, from, id } = move;
  session.note('the company can be changed here again, and is closed later');
  // Webhooks and e-mails too, and requests that are held. What fails is done below, but not if the command is being ended.
  await endIn(from.session, id).catch(() => undefined);
  await staysHereAlone(from, id).catch(() => undefined);
  // Not if the connection is lost, and the lock with it: another command may be at work.
  await stateOf(from, id);
  await acceptIn(from.session, id);
  await endIn(from.session, id);
  await staysHere(move);
}

async function open(move: Move): Promise<MoveStep> {
  const { session, to, id } = move;
  await enter(to, id, 'open');
  // Before gateways send requests there. Its services use this database, and one may be away.
  await openAtOnce(to, id);
  await despiteOutage(session, () => livesThere(move, move.held === true), move.signal);
  session.note('the company works in the other cell');
  await endIn(to.session, id);
  await inService(to, 'integrations', (tx) => forgetCallersOf(tx, id));
  await removeFencesIn(to.session, id);
  // Its topics of state get what they lack: read models that are rebuilt from them would lose the company.
  await to.session.client('integrations', CompanyAdminServiceService).updateCompany({ id });
  await inService(to, 'scheduling', (tx) => publishNamesOf(tx, id));
  // One of moments ago may have reached integrations only.
  await inService(to, 'integrations', (tx) => publishErasuresOf(tx, id));
  // The services do the rest in the background.
  for (const note of [publishScheduling, publishBilling]) await note(to.db, id);
  return 'clearing';
}

async function inService({ url }: Cell, schema: Owner, work: (tx: Transaction) => Promise<void>): Promise<void> {
  const database = new Database({ url, schema, maxConnections: 1 });
  try {
    await database.transaction(work);
  } finally {
    await database.close();
  }
}

/** Before anything is deleted here: the other cell would follow that too. */
async function clear({ from, to, id, signal }: Move): Promise<MoveStep> {
  await untilTrailIsComplete(from, id);
  // Late entries of the trail, which are added here when they are retried.
  const letters = await problemsOfDeadLetters(from, id);
  if (letters.length > 0) {
    throw new Failure(
      ['The company works in the other cell, but the move cannot end:', ...letters, 'After that, run this command again.'].join('\n  '),
      EXIT.refused,
    );
  }
  await unsubscribe(to, id);
  // Nothing else of the company has changed here. Its slot may be lost, as after a failover.
  await addMissingEntries(from, to, id);
  await unpublish(from, id, signal);
  await feedHasArrived(to, id, signal);
  // Late entries of the trail came from this cell, which does not know the erasures that were requested in the other one.
  const { began_at: beganAt } = (await stateOf(from, id))!;
  await inService(to, 'integrations', (tx) => erasePeopleAgain(tx, id, beganAt));
  return 'moved';
}

/** `--confirm`: deletes what is left here. */
async function remove(move: Move, state: MoveState | undefined): Promise<void> {
  const { session, from, to, id, signal } = move;
  if (state?.step !== 'moved' && state?.step !== 'deleting') {
    if (state === undefined && !(await hasCompany(from.db, id)) && (await hasCompany(to.db, id)))
      return session.print({ company_id: id, deleted_here: true }, `Nothing of the company ${id} is left here: it is in the other cell.`);
    throw new Failure(
      `The company ${id} has not been moved: ${state === undefined ? 'no move of it is under way' : 'run the command without --confirm first'}.`,
      EXIT.refused,
    );
  }
  const arrival = await arrivalOf(from, to, id);
  if (state.step === 'moved') {
    requireArrival(arrival, 'open');
    if ((await openServices(from, id)).length > 0) {
      throw new Failure(`The company ${id} can be changed here, as after a restore of this cell: run the command without --confirm first.`, EXIT.refused);
    }
    // Its database may have been restored to a time before that step ended, and entries of the trail come until now.
    await clear(move);
  } else if (arrival !== 'open' && (await hasCompany(from.db, id))) {
    throw new Failure(
      'The other cell does not have all of the company, as after a restore of its database, and here a part of it is deleted. ' +
        'Restore the other cell to a later moment, and run this again; or restore this cell to a moment before --confirm, and run --abort.',
      EXIT.refused,
    );
  }
  await enter(from, id, 'deleting');
  session.note('deleting: what is left of the company here');
  await removeRows(from, id, true, signal);
  await feedLeaves(from, id, signal);
  await forgetPlace(from, id);
  await inService(from, 'integrations', (tx) => forgetCallersOf(tx, id));
  await refuseMoved(from.db, id);
  await unfreezeIn(from.session, id, false);
  // Until now the company could not be deleted there: its rows here would have stayed.
  await forget(to, id);
  await forget(from, id);
  session.print({ company_id: id, deleted_here: true }, `Nothing of the company ${id} is left here. It can be moved back.`);
}
