// Reads, writes and webhooks run at a steady rate while every component moves between releases. The fault runs' checkers compare results with answers.
import { setTimeout as delay } from 'node:timers/promises';
import type { Say } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { Chance } from '../../tools/cli/src/simulate/chance.ts';
import { checkDeliveries, type Delivered } from '../faults/webhooks/check.ts';
import { makeEndpoints } from '../faults/webhooks/endpoints.ts';
import type { Receiver } from '../faults/webhooks/receiver.ts';
import { delivered, publishedEvents } from '../faults/webhooks/run.ts';
import { makeCustomer, runStories } from '../faults/webhooks/stories.ts';
import { check } from '../faults/writes/checker.ts';
import { runClient } from '../faults/writes/clients.ts';
import type { Attempt } from '../faults/writes/history.ts';
import { observe, readVisits } from '../faults/writes/observe.ts';
import { settled } from '../faults/writes/run.ts';
import { makeWorld } from '../faults/writes/world.ts';
import { HANG } from '../faults/wait.ts';
import { failureOf } from './failures.ts';
import type { Fleet } from './fleet.ts';
import { ADDED_TYPE } from '../rollout/changes.ts';
import type { Stage } from './plan.ts';
import { read } from './reader.ts';

export interface MixedOptions {
  readonly seed: number;
  readonly stages: readonly Stage[];
  readonly say: Say;
  /** Whether reports may be refused with 503 and Retry-After now. */
  readonly mayRefuseReports: () => boolean;
}

export interface MixedResult {
  readonly failures: readonly string[];
  readonly violations: readonly { readonly kind: string; readonly text: string }[];
  readonly counts: {
    readonly reads: number;
    /** Reports that were refused when they might be. */
    readonly refused: number;
    readonly writes: number;
    readonly events: number;
    readonly deliveries: number;
    readonly duplicates: number;
    readonly late: number;
    readonly moves: number;
  };
  readonly seconds: number;
  readonly history: readonly Attempt[];
}

/** Reads per second; writing clients and the pause between their writes; recording systems and the pause between their stories. */
const LOAD = { reads: 20, clients: 3, thinkMs: 350, systems: 2, pauseMs: 1500 };

export async function runMixed(fleet: Fleet, receiver: Receiver, { seed, stages, say, mayRefuseReports }: MixedOptions): Promise<MixedResult> {
  const { baseUrl } = fleet;
  const world = await makeWorld(fleet, { visits: 40, technicians: 8 });
  const { company } = world;
  const before = await readVisits(fleet, company);
  const customers = [await makeCustomer(fleet), await makeCustomer(fleet)] as const;
  const endpoints = await makeEndpoints(fleet, [customers[0].company, customers[1].company], receiver, 'mixed');
  await reportsAnswer(fleet, company.apiKey);

  const failures: string[] = [];
  const failed = (what: string): void => {
    failures.push(what);
    say(`  FAILED: ${what}`);
  };
  const chance = new Chance(seed);
  const history: Attempt[] = [];
  const finished: string[] = [];
  let goesOn = true;
  const going = (): boolean => goesOn;
  const mayRefuse = (path: string) => (path.startsWith('/v1/reports/') && mayRefuseReports() ? 503 : undefined);
  const startedAt = performance.now();
  const client = () =>
    runClient({
      baseUrl,
      apiKey: company.apiKey,
      chance: new Chance(chance.next() * 2 ** 32),
      visitIds: world.visitIds,
      technicianIds: world.technicianIds,
      history,
      goesOn: going,
      thinkMs: LOAD.thinkMs,
      notify: 0.05,
      unread: (reason) => failed(`a visit was not read: ${reason}`),
    });
  const load = Promise.all([
    read({ baseUrl, company, rate: LOAD.reads, goesOn: going, failed, mayRefuse }),
    ...Array.from({ length: LOAD.clients }, client),
    runStories(fleet, customers, {
      goesOn: going,
      atOnce: LOAD.systems,
      finished,
      pause: () => delay(chance.between(0, 2 * LOAD.pauseMs)),
      refused: (error) =>
        failed(`a step of a service request was refused: ${error.status} ${error.message} ${String((error.cause as Error | undefined)?.message ?? '')}`),
    }),
  ]);
  load.catch(() => undefined);

  let moves = 0;
  try {
    for (const stage of stages) {
      const begunAt = performance.now();
      for (const { component, to } of stage.moves) {
        await Promise.race([fleet.move(component, to), load.then(() => Promise.reject(new Error('the load has ended')))]);
        moves += 1;
      }
      say(`  ${stage.title}: ${stage.moves.length} moves in ${((performance.now() - begunAt) / 1000).toFixed(1)} s, ${failures.length} requests failed so far`);
    }
    await fleet.settled();
  } finally {
    goesOn = false;
  }
  const [{ reads, refused }] = await load;
  for (const attempt of history) {
    const failure = failureOf(attempt);
    if (failure !== undefined) failed(failure);
  }

  say('  everything is upgraded; waiting until all events are published …');
  const wrongReadModels = await settled(fleet, company, 60_000);
  const writes = check(history.map(withoutNotificationId), await observe(fleet, company, before, wrongReadModels));
  const { published, violations: broken } = await publishedEvents(fleet, new Set(customers.map(({ company: { id } }) => id)));
  const unsent = await unretried(fleet);
  await delivered(fleet, endpoints);
  const events = checkDeliveries(published, endpoints, receiver.arrivals);
  const { late, violations } = withoutLate(events, receiver);
  const accidents = fleet.accidents.map((text) => ({ kind: 'unexpected-end', text }));
  return {
    failures,
    history,
    violations: [...writes.violations, ...broken, ...violations, ...unsent, ...accidents],
    counts: {
      reads,
      refused,
      writes: writes.counts['acknowledged'] ?? 0,
      events: published.length + (writes.counts['events'] ?? 0),
      deliveries: events.counts.deliveries,
      duplicates: events.counts.duplicates,
      late,
      moves,
    },
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Release 1.3.0 does not know the `id` of a notification, so its repeated answers lack it. */
function withoutNotificationId(attempt: Attempt): Attempt {
  const { answer } = attempt;
  if (answer?.said === undefined) return attempt;
  const [data, notification] = JSON.parse(answer.said) as [unknown, object];
  return { ...attempt, answer: { ...answer, said: JSON.stringify([data, { ...notification, id: null }]) } };
}

async function reportsAnswer({ baseUrl }: Fleet, apiKey: string): Promise<void> {
  await until(
    'an answer to a report',
    async () => {
      const response = await fetch(`${baseUrl}/v1/reports/collections?start_date=2026-01-01&end_date=2026-01-31`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      await response.arrayBuffer();
      return response.ok;
    },
    Boolean,
    HANG,
  );
}

/**
 * An event that a dispatcher does not know waits for a newer one, and later events of its subject do not. So an event may arrive
 * after its successor (docs/how-to/upgrade.md).
 */
function withoutLate({ violations }: Delivered, { arrivals }: Receiver): { late: number; violations: Delivered['violations'] } {
  const known = new Set(arrivals.filter(({ unknownToOlder }) => unknownToOlder).map(({ subject }) => subject));
  const excused = violations.filter(({ kind, text }) => kind === 'out-of-order' && [...known].some((subject) => text.includes(subject)));
  return { late: excused.length, violations: violations.filter((one) => !excused.includes(one)) };
}

/** Dead letters still unsent although all dispatchers have the newest release. */
async function unretried({ database }: Fleet): Promise<{ kind: string; text: string }[]> {
  const left = async (): Promise<number> =>
    (await database.query<{ count: number }>({ text: 'select count(*) from integrations.parked_event' })).rows[0]!.count;
  await until('the dead letters to be sent', async () => (await left()) === 0, Boolean, { atMostMs: 60_000 }).catch(() => undefined);
  const count = await left();
  return count === 0 ? [] : [{ kind: 'dead-letter', text: `${count} events are still dead letters, such as ${ADDED_TYPE}` }];
}
