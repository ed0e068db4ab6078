// A copy of another service's records: what an event of its compacted topic puts into a table here, and which jobs'
// figures follow from it.
import type { TopicDefinition } from '@truckroll/contract';
import type { IncomingEvent, Subscription } from '@truckroll/outbox';
import { byCompany, lockCompany } from '@truckroll/record-store';
import type { Queryable, Transaction } from '@truckroll/service-kit';
import { refreshFinancials } from '../financials/every-job.ts';

export interface Copy {
  topic: TopicDefinition;
  table: string;
  /** Of what is kept: raise it by one with every change of it. Rows of earlier versions are then copied anew from the topic. */
  version: number;
  /** Stores the records of one company; returns the jobs whose figures may have changed. */
  store(tx: Queryable, companyId: string, payloads: readonly Buffer[]): Promise<readonly string[]>;
  /** Removes records that their owner has deleted; returns the jobs concerned. */
  remove?(tx: Queryable, companyId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** Applies events in the caller's transaction, figures included. */
export async function applyTo(copy: Copy, tx: Transaction, events: readonly IncomingEvent[]): Promise<void> {
  for (const [companyId, ofCompany] of byCompany(events)) {
    // An import of financials that is under way does not see these copies, nor is it seen: one of the two must wait.
    await lockCompany(tx, companyId);
    const payloads = ofCompany.flatMap(({ payload }) => payload ?? []);
    const gone = ofCompany.filter(({ payload }) => payload === null).map(({ key }) => key.slice(key.indexOf('/') + 1));
    const stored = payloads.length > 0 ? await copy.store(tx, companyId, payloads) : [];
    const removed = gone.length > 0 ? ((await copy.remove?.(tx, companyId, gone)) ?? []) : [];
    await refreshFinancials(tx, companyId, [...stored, ...removed]);
  }
}

export function subscriptionOf(copy: Copy): Subscription {
  return { topic: copy.topic, deduplicate: 'version', apply: (tx, events) => applyTo(copy, tx, events) };
}
