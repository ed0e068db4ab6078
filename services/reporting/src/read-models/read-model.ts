// A read model of another service's records: what an event of the compacted topic stores here, and which jobs' figures it changes.
import type { TopicDefinition } from '@truckroll/contract';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { byCompany, lockCompany, lockPart, planForAnyCompany } from '@truckroll/record-store';
import { refreshJobs, type JobsToRefresh } from '../jobs/every-job.ts';

export interface ReadModel {
  topic: TopicDefinition;
  table: string;
  /** Version of the stored rows. Raise it by one with every change to them: rows of earlier versions are then rewritten from the topic. */
  version: number;
  columns: readonly string[];
  /** What to lock: jobs and money movements share no rows, so they need not wait for each other. Default: the whole company. */
  part?: 'jobs' | 'movements';
  /** The column that identifies a row within its company, if it is not `id`. */
  readonly id?: 'company_id';
  /** Stores the records of one company. */
  store(tx: Queryable, companyId: string, events: readonly StateEvent[]): Promise<Consequences>;
  /** Removes records that their owner has deleted; returns the affected jobs. */
  remove(tx: Queryable, companyId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** `jobs`: those whose figures may have changed. */
export interface Consequences extends JobsToRefresh {
  /** Resolves when the rows are stored, if `store` did not wait for that. */
  written?: Promise<unknown>;
}

/** The latest state of an existing record. */
export type StateEvent = Pick<IncomingEvent, 'key' | 'time'> & { payload: Buffer };

/** Applies events in the caller's transaction, including their effects on figures. */
export async function applyTo(model: ReadModel, tx: Transaction, events: readonly IncomingEvent[]): Promise<void> {
  for (const [companyId, ofCompany] of byCompany(events)) {
    // A concurrent import of financials and this transaction would not see each other's changes: one of them must wait.
    const locked = lock(model, tx, companyId);
    const stored = ofCompany.filter((event): event is IncomingEvent & { payload: Buffer } => event.payload !== null);
    const gone = ofCompany.filter(({ payload }) => payload === null).map(idOf);
    const changed = stored.length > 0 ? await model.store(tx, companyId, stored) : NOTHING;
    const others = gone.length > 0 ? await model.remove(tx, companyId, gone) : [];
    await follow(tx, companyId, { ...changed, jobs: [...changed.jobs, ...others] });
    await locked;
  }
}

const NOTHING: Consequences = { jobs: [] };

/** The transaction holds the lock. */
export async function removeFrom(model: ReadModel, tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  await follow(tx, companyId, { jobs: await model.remove(tx, companyId, ids) });
}

/** Pipelined ahead of the statements that need the lock: PostgreSQL executes them once it is held. */
export function lock({ part }: ReadModel, tx: Transaction, companyId: string): Promise<unknown> {
  return handled(Promise.all([planForAnyCompany(tx), part === undefined ? lockCompany(tx, companyId) : lockPart(tx, companyId, part)]));
}

async function follow(tx: Transaction, companyId: string, changed: Consequences): Promise<void> {
  // No job may be affected now, but one may have been before.
  if (changed.jobs.length > 0 || (await changed.before)?.length) await refreshJobs(tx, companyId, changed);
  await changed.written;
}

function idOf({ key }: Pick<IncomingEvent, 'key'>): string {
  return key.slice(key.indexOf('/') + 1);
}
