// Sums follow facts: what was stored is taken back, what is stored now is added, in the transaction that changes the
// facts. An event's own idea of what was before is not used, so repeats and old news change nothing.
import type { Queryable } from '@truckroll/service-kit';
import { sameEntries, type Entry, type FactKind } from '../facts/fact.ts';
import { FACTS } from '../facts/index.ts';
import { factsOfJobs, jobFacts, storeJobFacts } from '../facts/jobs.ts';
import { Deltas } from './deltas.ts';
import { holds, liveGenerations, type Generation } from './generations.ts';

/** Entries of facts by id; ids without any are absent. */
type Entries = ReadonlyMap<string, readonly Entry[]>;

export interface Following {
  /** Facts that are about to change, of one kind: send what changes them after this was called. */
  changing(kind: FactKind, ids: readonly string[]): Promise<void>;
  /** Of those, what they have become, from whoever stores them: they are not read again. */
  became(kind: FactKind, entries: Entries): void;
  /** Writes how the sums differ now that they have changed. */
  changed(): Promise<void>;
}

interface Followed {
  kind: FactKind;
  ids: readonly string[];
  before: Entries;
  now?: Entries;
}

/** Watches facts of one company in a transaction that holds the company's lock. */
export function follow(tx: Queryable, companyId: string): Following {
  // The lock keeps them as they are.
  let live: Promise<Generation[]> | undefined;
  const generationsNow = (): Promise<Generation[]> => (live ??= liveGenerations(tx, companyId));
  const followed: Followed[] = [];
  return {
    async changing(kind, ids) {
      if (ids.length === 0 || (await generationsNow()).length === 0) return;
      followed.push({ kind, ids, before: await kind.read(tx, companyId, ids) });
    },
    became(kind, entries) {
      for (const each of followed) if (each.kind === kind) each.now = entries;
    },
    async changed() {
      if (followed.length === 0) return;
      const generations = await generationsNow();
      const deltas = new Deltas();
      for (const { kind, ids, before, now = await kind.read(tx, companyId, ids) } of followed) {
        const stage = FACTS.indexOf(kind);
        for (const id of new Set(ids)) {
          const [old, next] = [before.get(id) ?? [], now.get(id) ?? []];
          if (sameEntries(old, next)) continue;
          for (const generation of generations) if (holds(generation, stage, id)) deltas.change(generation, old, next);
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
  following.became(jobFacts, await storeJobFacts(tx, companyId, ids, await factsOfJobs(tx, companyId, ids)));
  await following.changed();
}
