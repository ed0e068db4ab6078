// Generations of a company's sums: the current one for reports, and its successor while that is being built.
import type { Queryable } from '@truckroll/postgres';
import { SUMMARIES_VERSION } from '../facts/definitions.ts';

export interface Generation {
  generation: number;
  time_zone: string;
  state: 'building' | 'current' | 'retired';
  stage: number;
  after: string | null;
  /** SUMMARIES_VERSION of the release that began it, or the lower one of an older release that has written to it since. */
  version: number;
}

export async function liveGenerations(tx: Queryable, companyId: string): Promise<Generation[]> {
  const { rows } = await tx.query<Generation>({
    name: 'live_generations',
    text: `select generation, time_zone, state, stage, after, version from generations where company_id = $1 and state <> 'retired'`,
    values: [companyId],
  });
  return rows;
}

/** Whether a generation already contains a fact, by the fact's kind and id; if not, the build will reach it. */
export function holds({ state, stage, after }: Generation, kind: number, id: string): boolean {
  return state === 'current' || kind < stage || (kind === stage && after !== null && id <= after);
}

/** Begins a generation in the company's current time zone; abandons one that is being built. */
export async function beginGeneration(tx: Queryable, companyId: string): Promise<void> {
  await tx.query({
    name: 'give_up_building',
    text: `update generations set state = 'retired' where company_id = $1 and state = 'building'`,
    values: [companyId],
  });
  await tx.query({
    name: 'begin_generation',
    text: `insert into generations (company_id, generation, time_zone, state, version)
      select company_id, coalesce((select max(generation) from generations g where g.company_id = c.company_id), 0) + 1, time_zone, 'building', ${SUMMARIES_VERSION}
      from companies c where company_id = $1`,
    values: [companyId],
  });
}
