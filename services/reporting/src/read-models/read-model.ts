// A read model of another service's records: what an event of its compacted topic puts into a table here, and which jobs'
// figures and which sums follow from it.
import type { TopicDefinition } from '@truckroll/contract';
import type { IncomingEvent, Subscription } from '@truckroll/outbox';
import { byCompany, lockCompany, lockPart, planForAnyCompany } from '@truckroll/record-store';
import { heard, type Queryable, type Transaction } from '@truckroll/service-kit';
import type { Entry, FactKind } from '../facts/fact.ts';
import { refreshJobs, type JobsToRefresh } from '../financials/every-job.ts';
import { follow, type Became } from '../summaries/follow.ts';

export interface ReadModel {
  topic: TopicDefinition;
  table: string;
  /** Of what is kept: raise it by one with every change of it. Rows of earlier versions are then written anew from the topic. */
  version: number;
  /** Columns that hold what is kept of a record. */
  columns: readonly string[];
  /** What reports count of the rows. */
  facts?: FactKind;
  /** Jobs and money that was moved share neither rows nor sums, and need not wait for each other; without it, for both. */
  part?: 'jobs' | 'movements';
  /** The column that names a row among those of its company, where it is not `id`. */
  readonly id?: 'company_id';
  /** Stores the records of one company. Tells `became`, once they are sent, what reports count of them now. */
  store(tx: Queryable, companyId: string, events: readonly StateEvent[], became?: Promise<Became>): Promise<Consequences>;
  /** Removes records that their owner has deleted; returns the jobs concerned. */
  remove?(tx: Queryable, companyId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** `jobs`: those whose figures may have changed. */
export interface Consequences extends JobsToRefresh {
  /** When the rows are there, where that was not waited for. */
  written?: Promise<unknown>;
}

/** The latest of a record that is there. */
export type StateEvent = Pick<IncomingEvent, 'key' | 'time'> & { payload: Buffer };

/** Applies events in the caller's transaction, figures included. */
export async function applyTo(model: ReadModel, tx: Transaction, events: readonly IncomingEvent[]): Promise<void> {
  for (const [companyId, ofCompany] of byCompany(events)) {
    // An import of financials that is under way does not see these read models, nor is it seen: one of the two must wait.
    const locked = lock(model, tx, companyId);
    const stored = ofCompany.filter((event): event is IncomingEvent & { payload: Buffer } => event.payload !== null);
    const gone = ofCompany.filter(({ payload }) => payload === null).map(idOf);
    await change(tx, companyId, model, [...stored.map(idOf), ...gone], async (became) => {
      if (stored.length === 0) (await became)?.(NONE);
      const changed = stored.length > 0 ? await model.store(tx, companyId, stored, became) : NOTHING;
      const others = gone.length > 0 ? ((await model.remove?.(tx, companyId, gone)) ?? []) : [];
      return { ...changed, jobs: [...changed.jobs, ...others] };
    });
    await locked;
  }
}

const NOTHING: Consequences = { jobs: [] };
const NONE: ReadonlyMap<string, readonly Entry[]> = new Map();

/** Removes rows that no topic has any more. */
export async function removeFrom(model: ReadModel, tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  const locked = lock(model, tx, companyId);
  await change(tx, companyId, model, ids, async (became) => {
    (await became)?.(NONE);
    return { jobs: (await model.remove?.(tx, companyId, ids)) ?? [] };
  });
  await locked;
}

/** Sent before all that needs it: PostgreSQL deals with nothing that is sent later until the lock is held. */
function lock({ part }: ReadModel, tx: Transaction, companyId: string): Promise<unknown> {
  return heard(Promise.all([planForAnyCompany(tx), part === undefined ? lockCompany(tx, companyId) : lockPart(tx, companyId, part)]));
}

/**
 * Changes rows, and everything that follows from them. What does not wait for each other's answers is sent ahead, so that PostgreSQL
 * has something to do while sums are made here, and the other way round.
 */
async function change(
  tx: Transaction,
  companyId: string,
  { facts }: ReadModel,
  ids: readonly string[],
  work: (became?: Promise<Became>) => Promise<Consequences>,
): Promise<void> {
  const following = follow(tx, companyId);
  const became = facts && heard(following.changing(facts, ids));
  const changed = await work(became);
  await became;
  const sums: Promise<void>[] = [];
  const sendSums = (): void => {
    if (facts !== undefined && sums.length === 0) sums.push(heard(following.changed(facts)));
  };
  // Where there are none now, there may have been some before.
  if (changed.jobs.length > 0 || (await changed.before)?.length) await refreshJobs(tx, companyId, changed, following, sendSums);
  sendSums();
  await Promise.all([changed.written, ...sums]);
}

function idOf({ key }: Pick<IncomingEvent, 'key'>): string {
  return key.slice(key.indexOf('/') + 1);
}

/** `applied` is called after the commit of events that were applied. */
export function subscriptionOf(model: ReadModel, applied?: () => void): Subscription {
  return {
    topic: model.topic,
    deduplicate: 'version',
    async apply(tx, events) {
      await applyTo(model, tx, events);
      if (applied !== undefined) tx.afterCommit(applied);
    },
  };
}
