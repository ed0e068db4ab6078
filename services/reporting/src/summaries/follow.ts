// Subtracts stored entries and adds new ones in the transaction that changes the facts. Previous values in events are not used, so
// redelivered and outdated events change nothing.
import type { Queryable } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { sameEntries, type Entry, type FactKind } from '../facts/fact.ts';
import { FACTS } from '../facts/index.ts';
import { entriesOfJobs, factsOfJobs, jobFacts, storeJobFacts } from '../facts/jobs.ts';
import { Deltas } from './deltas.ts';
import { holds, liveGenerations, type Generation } from './generations.ts';

type Entries = ReadonlyMap<string, readonly Entry[]>;

/** Adds to the sums the new entries of facts, passed by the code that stores them. */
export type Became = (now: Entries) => void;

export interface Following {
  /** Announces changes to facts of one kind. Their current entries are queried at once, ahead of everything sent after this call. */
  changing(kind: FactKind, ids: readonly string[]): Promise<Became>;
  /** Writes the changed sums of a kind; first reads the new entries that were not passed to `Became`. */
  changed(kind: FactKind): Promise<void>;
}

interface Followed {
  kind: FactKind;
  ids: ReadonlySet<string>;
  before: Entries;
}

/** The transaction must hold the company's lock. */
export function follow(tx: Queryable, companyId: string): Following {
  // Read once: the lock keeps them unchanged.
  let live: Promise<Generation[]> | undefined;
  const sums = new Map<FactKind, Deltas>();
  const unannounced = new Set<Followed>();

  function fold(followed: Followed, generations: readonly Generation[], now: Entries): void {
    unannounced.delete(followed);
    const { kind, ids, before } = followed;
    const stage = FACTS.indexOf(kind);
    const deltas = sums.get(kind) ?? new Deltas();
    sums.set(kind, deltas);
    for (const id of ids) {
      const [old, next] = [before.get(id) ?? [], now.get(id) ?? []];
      if (sameEntries(old, next)) continue;
      for (const generation of generations) if (holds(generation, stage, id)) deltas.change(generation, old, next);
    }
  }

  return {
    async changing(kind, ids) {
      if (ids.length === 0) return () => undefined;
      live ??= handled(liveGenerations(tx, companyId));
      // In parallel: nearly every company has sums.
      const [generations, before] = await Promise.all([live, kind.read(tx, companyId, ids)]);
      if (generations.length === 0) return () => undefined;
      const followed = { kind, ids: new Set(ids), before };
      unannounced.add(followed);
      return (now) => fold(followed, generations, now);
    },
    async changed(kind) {
      for (const followed of unannounced) {
        if (followed.kind === kind) fold(followed, (await live) ?? [], await kind.read(tx, companyId, [...followed.ids]));
      }
      await sums.get(kind)?.write(tx, companyId);
    },
  };
}

/** Refreshes job facts and their sums after one of their sources has changed, like `refreshRecords` for financials. */
export async function refreshJobFacts(tx: Queryable, companyId: string, jobs: Iterable<string>): Promise<void> {
  const ids = [...new Set(jobs)].sort();
  if (ids.length === 0) return;
  const following = follow(tx, companyId);
  const became = await following.changing(jobFacts, ids);
  const facts = await factsOfJobs(tx, companyId, ids);
  became(entriesOfJobs(facts));
  await Promise.all([storeJobFacts(tx, companyId, ids, facts), following.changed(jobFacts)]);
}
