// Many clients assign technicians to visits. Each sends a write with one key until it is answered, and is sometimes as careless
// with keys and connections as real clients are.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { isAcknowledged, isDefinite, type Attempt, type Write } from './history.ts';
import { readVisit, seen, send, type ReadVisit, type SeenVisit, type SenderOptions } from './sender.ts';

export interface ClientOptions extends SenderOptions {
  readonly chance: Chance;
  readonly visitIds: readonly string[];
  readonly technicianIds: readonly string[];
  readonly history: Attempt[];
  readonly goesOn: () => boolean;
  readonly thinkMs: number;
  readonly notify: number;
}

/** How a write is sent, with the share of writes sent this way. */
const MANNERS = {
  plain: 0.5,
  twins: 0.22,
  rivals: 0.08,
  again: 0.1,
  /** The client hangs up first, and then sends it normally. */
  hangUp: 0.07,
  giveUp: 0.03,
} as const;
type Manner = keyof typeof MANNERS;

/** After this long without a definite answer, in ms, the client gives up on a write. */
const MAX_RETRY_MS = 60_000;
const POPULAR = 6;

export async function runClient(options: ClientOptions): Promise<void> {
  const { chance, goesOn, thinkMs } = options;
  const known = new Map<string, SeenVisit>();
  while (goesOn()) {
    await delay(chance.between(0, 2 * thinkMs));
    const write = await plan(options, known);
    if (write === undefined) continue;
    await perform(options, known, write, mannerOf(chance));
  }
}

function mannerOf(chance: Chance): Manner {
  let left = chance.next();
  for (const [manner, share] of Object.entries(MANNERS) as [Manner, number][]) {
    left -= share;
    if (left < 0) return manner;
  }
  return 'plain';
}

/** The next write, based on the last known state of a visit, which other clients may have changed. */
async function plan(options: ClientOptions, known: Map<string, SeenVisit>, popular = options.chance.happens(0.2)): Promise<Write | undefined> {
  const { chance, visitIds, technicianIds, notify } = options;
  const visitId = chance.one(popular ? visitIds.slice(0, POPULAR) : visitIds);
  // Visits that other clients change often are mostly read again.
  if (popular && chance.happens(0.7)) known.delete(visitId);
  const visit = known.get(visitId) ?? (await readVisit(options, visitId));
  if (visit === undefined) return undefined;
  known.set(visitId, visit);
  const common = { visitId, expectedRevision: visit.revision, notify: chance.happens(notify) };
  const { assignments } = visit;
  // Often remove the last technician, because service requests change when a visit gets its first technician or loses its last.
  const removes = assignments.size > 0 && chance.happens(assignments.size === 1 ? 0.45 : 0.65);
  if (removes) return { ...common, kind: 'remove', assignmentId: chance.one([...assignments.values()]) };
  const free = technicianIds.filter((id) => !assignments.has(id));
  return free.length === 0 ? undefined : { ...common, kind: 'add', technicianId: chance.one(free) };
}

async function perform(options: ClientOptions, known: Map<string, SeenVisit>, write: Write, manner: Manner): Promise<void> {
  const { chance } = options;
  const key = randomUUID();
  const sendAgain = (one: Write) => sendUntilAnswered(options, known, key, one);
  switch (manner) {
    case 'twins':
      await Promise.all([sendAgain(write), sendAgain(write)]);
      break;
    case 'rivals': {
      const rival = await plan(options, known, false);
      const rivals = rival !== undefined && rival.visitId !== write.visitId && write.kind === 'add' && rival.kind === 'add';
      await Promise.all([sendAgain(write), ...(rivals ? [sendAgain(rival)] : [])]);
      break;
    }
    case 'again':
      await sendAgain(write);
      await sendAgain(write);
      break;
    case 'hangUp':
      record(options, known, await send(options, key, write, Math.ceil(chance.between(1, 30))));
      await sendAgain(write);
      break;
    case 'giveUp':
      record(options, known, await send(options, key, write));
      break;
    default:
      await sendAgain(write);
  }
}

async function sendUntilAnswered(options: ClientOptions, known: Map<string, SeenVisit>, key: string, write: Write): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < MAX_RETRY_MS; ) {
    const attempt = await send(options, key, write);
    record(options, known, attempt);
    if (isDefinite(attempt)) return;
    // Sooner than Retry-After says, because requests that meet a restarting process are useful here.
    await delay(options.chance.between(50, 400));
  }
}

function record({ history }: ClientOptions, known: Map<string, SeenVisit>, attempt: Attempt): void {
  history.push(attempt);
  const { answer, write } = attempt;
  // A repeated answer may show an outdated visit: stale writes are useful, too.
  if (isAcknowledged(attempt)) known.set(write.visitId, seen((JSON.parse(answer!.said!) as [ReadVisit])[0]));
  else known.delete(write.visitId);
}
