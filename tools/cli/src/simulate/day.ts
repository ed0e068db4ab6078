// A working day: requests arrive at random, and each plays its own scenario at the same time as the others.
import { setMaxListeners } from 'node:events';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';
import { Refused, type Named, type SchedulingApi, type Visit } from './api.ts';
import { Clock } from './clock.ts';
import { scenario } from './scenario.ts';
import type { DayOptions, Scene, Tally } from './scene.ts';

const DEMO = 'make one with `truckroll demo`.';

/** Plays until the day is over or aborted. Throws Failure if the company lacks records to play with. */
export async function playDay(options: DayOptions): Promise<Tally> {
  const { api, chance, minutes } = options;
  const tally: Tally = { requests: 0, interactions: 0, booked: 0, added: 0, removed: 0, completed: 0, ended: 0, refused: 0 };
  const [companyId, accounts, technicians, visits] = await Promise.all([
    api.companyId(),
    api.list<Named>('/v1/accounts', { archived: 'false' }),
    api.list<Named>('/v1/team-members', { status: 'ACTIVE', assignable: 'true' }),
    freeVisits(api),
  ]);
  if (accounts.length === 0 || technicians.length === 0 || visits.length === 0) {
    throw new Failure(`The company needs accounts, technicians and visits that can still be staffed: ${DEMO}`);
  }
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  setMaxListeners(0, signal);
  const clock = new Clock(options.speed, signal);
  const say = (text: string): void => options.say(`${clock.text}  ${text}`);
  const scene: Scene = { ...options, signal, companyId, clock, accounts, technicians, tally, say, freeVisit: () => visits.shift() };

  const scenarios = new Set<Promise<void>>();
  const end = clock
    .wait(minutes)
    .catch(() => undefined)
    .then(() => over.abort());
  while (!signal.aborted) {
    await clock.wait(chance.gap(options.requestsPerHour)).catch(() => undefined);
    if (signal.aborted) break;
    const one: Promise<void> = played(scene).finally(() => void scenarios.delete(one));
    scenarios.add(one);
  }
  await end;
  await Promise.all(scenarios);
  return tally;
}

async function played(scene: Scene): Promise<void> {
  try {
    await scenario(scene);
  } catch (error) {
    if (scene.signal.aborted) return;
    if (!(error instanceof Refused) && !(error instanceof Failure)) throw error;
    scene.tally.refused += 1;
    scene.say(`refused: ${error.message}`);
  }
}

async function freeVisits(api: SchedulingApi): Promise<Visit[]> {
  const [free, staffed] = await Promise.all(
    ['UNASSIGNED', 'ASSIGNED'].map((dispatch_status) => api.list<Visit>('/v1/job-appointments', { dispatch_status, canceled: 'false' })),
  );
  return [...(free ?? []), ...(staffed ?? [])];
}
