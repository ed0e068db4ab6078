// A read model of another service's records: what an event of its compacted topic puts into a table here, and which jobs'
// figures and which sums follow from it.
import type { TopicDefinition } from '@truckroll/contract';
import type { IncomingEvent, Subscription } from '@truckroll/outbox';
import { byCompany, lockCompany } from '@truckroll/record-store';
import type { Queryable, Transaction } from '@truckroll/service-kit';
import type { FactKind } from '../facts/fact.ts';
import { refreshFinancials } from '../financials/every-job.ts';
import { follow, refreshJobFacts } from '../summaries/follow.ts';

export interface ReadModel {
  topic: TopicDefinition;
  table: string;
  /** Of what is kept: raise it by one with every change of it. Rows of earlier versions are then written anew from the topic. */
  version: number;
  /** What reports count of the rows. */
  facts?: FactKind;
  /** The column that names a row among those of its company, where it is not `id`. */
  readonly id?: 'company_id';
  /** Stores the records of one company; returns the jobs whose figures may have changed. */
  store(tx: Queryable, companyId: string, events: readonly StateEvent[]): Promise<readonly string[]>;
  /** Removes records that their owner has deleted; returns the jobs concerned. */
  remove?(tx: Queryable, companyId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** The latest of a record that is there. */
export type StateEvent = Pick<IncomingEvent, 'key' | 'time'> & { payload: Buffer };

/** Applies events in the caller's transaction, figures included. */
export async function applyTo(model: ReadModel, tx: Transaction, events: readonly IncomingEvent[]): Promise<void> {
  for (const [companyId, ofCompany] of byCompany(events)) {
    // An import of financials that is under way does not see these read models, nor is it seen: one of the two must wait.
    await lockCompany(tx, companyId);
    const stored = ofCompany.filter((event): event is IncomingEvent & { payload: Buffer } => event.payload !== null);
    const gone = ofCompany.filter(({ payload }) => payload === null).map(idOf);
    await change(tx, companyId, model, [...stored.map(idOf), ...gone], async () => [
      ...(stored.length > 0 ? await model.store(tx, companyId, stored) : []),
      ...(gone.length > 0 ? ((await model.remove?.(tx, companyId, gone)) ?? []) : []),
    ]);
  }
}

/** Removes rows that no topic has any more. */
export async function removeFrom(model: ReadModel, tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  await lockCompany(tx, companyId);
  await change(tx, companyId, model, ids, async () => (await model.remove?.(tx, companyId, ids)) ?? []);
}

/** Changes rows, and everything that follows from them. `work` returns the jobs whose figures may differ. */
async function change(tx: Transaction, companyId: string, { facts }: ReadModel, ids: readonly string[], work: () => Promise<readonly string[]>): Promise<void> {
  const following = follow(tx, companyId);
  if (facts !== undefined) await following.changing(facts, ids);
  const jobs = await work();
  await following.changed();
  await refreshFinancials(tx, companyId, jobs);
  await refreshJobFacts(tx, companyId, jobs);
}

function idOf({ key }: Pick<IncomingEvent, 'key'>): string {
  return key.slice(key.indexOf('/') + 1);
}

export function subscriptionOf(model: ReadModel): Subscription {
  return { topic: model.topic, deduplicate: 'version', apply: (tx, events) => applyTo(model, tx, events) };
}
