// Sums follow facts: what was stored is taken back, what is stored now is added, in the transaction that changes the
// facts. An event's own idea of what was before is not used, so repeats and old news change nothing.
import type { Queryable } from '@truckroll/service-kit';
import { sameEntries, type Entry, type FactKind } from '../facts/fact.ts';
import { FACTS } from '../facts/index.ts';
import { jobFacts, storeJobFacts } from '../facts/jobs.ts';
import { Deltas } from './deltas.ts';
import { holds, liveGenerations, type Generation } from './generations.ts';

export interface Following {
  /** Facts that are about to change, of one kind. */
  changing(kind: FactKind, ids: readonly string[]): Promise<void>;
  /** Writes how the sums differ now that they have changed. */
  changed(): Promise<void>;
}

/** Watches facts of one company in a transaction that holds the company's lock. */
export function follow(tx: Queryable, companyId: string): Following {
  // The lock keeps them as they are.
  let live: Promise<Generation[]> | undefined;
  const generationsNow = (): Promise<Generation[]> => (live ??= liveGenerations(tx, companyId));
  const before: { kind: FactKind; ids: readonly string[]; entries: ReadonlyMap<string, readonly Entry[]> }[] = [];
  return {
    async changing(kind, ids) {
      if (ids.length === 0 || (await generationsNow()).length === 0) return;
      before.push({ kind, ids, entries: await kind.read(tx, companyId, ids) });
    },
    async changed() {
      if (before.length === 0) return;
      const generations = await generationsNow();
      const deltas = new Deltas();
      for (const { kind, ids, entries: old } of before) {
        const now = await kind.read(tx, companyId, ids);
        for (const id of new Set(ids)) {
          if (sameEntries(old.get(id), now.get(id))) continue;
          for (const generation of generations) {
            if (!holds(generation, FACTS.indexOf(kind), id)) continue;
            deltas.add(generation, old.get(id) ?? [], -1n);
            deltas.add(generation, now.get(id) ?? [], 1n);
          }
        }
      }
      await deltas.write(tx, companyId);
    },
  };
}

/** Job facts and their sums after something that they follow from has changed: as `refreshRecords` does for financials. */
export async function refreshJobFacts(tx: Queryable, companyId: string, jobs: Iterable<string>): Promise<void> {
  const ids = [...new Set(jobs)].sort();
  if (ids.length === 0) return;
  const following = follow(tx, companyId);
  await following.changing(jobFacts, ids);
  await storeJobFacts(tx, companyId, ids);
  await following.changed();
}
