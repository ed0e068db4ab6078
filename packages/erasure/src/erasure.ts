// Removes companies from one service, and erases people (docs/adr/0024): rpcs for operators, and tasks of the catch-up engine that do the work.
import type { Erasure, ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import type { Handlers } from '@truckroll/grpc';
import { OF_DELETION, companyHash } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { learning } from './learn.ts';
import { mentions } from './mentions.ts';
import type { ErasureOptions } from './options.ts';
import { eraseNext, people } from './people.ts';
import { removeNext, waiting, type Removing } from './remove.ts';
import { requireId } from './request.ts';
import { countRows, keyedRules, rulesOf } from './tables.ts';

/**
 * Adds the tasks `erase` and `erase-people` to the catch-up engine. Returns the rpcs that say how far they are and what is left, and set them to
 * work at once. Errors: 400 for what is no id.
 */
export function erasure(options: ErasureOptions): Handlers<typeof ErasureServiceService> {
  const { database, catchUp, restored, waitsFor, learns } = options;
  const own = [...(options.rules ?? []), ...keyedRules(restored.groups)];
  const removing: Removing = { ...options, own, at: new Map(), clean: new Set(), said: new Map() };
  const erasing = catchUp.add({ name: 'erase-people', due: () => eraseNext(options), worked: async () => options.poke() });
  const runner = catchUp.add({ name: 'erase', due: () => removeNext(removing), worked: async () => options.poke() });
  const learnt = learns && learning(options, learns, () => [runner, erasing].forEach((each) => each.look()));
  if (learnt !== undefined) learns?.background(learnt.asPart('deleted companies'));
  const left = async (companyId: string) => listed(await countRows(database.of(companyId), await rulesOf(database, own), companyId));

  return {
    ...people(options, erasing, () => learnt?.now()),
    ...mentions(options),
    async getErasure({ company_id: companyId, count }) {
      requireId(companyId);
      const rows = count ? await left(companyId) : [];
      let found = await stateOf(database, companyId, waitsFor);
      // A replica of an earlier release may have stored something since.
      if (found?.ended_at != null && rows.length > 0) {
        await again(database, companyId);
        found = await stateOf(database, companyId, waitsFor);
      }
      if (found === null) learnt?.now();
      else if (found.ended_at == null) runner.look();
      return { erasure: found, left: rows };
    },
  };
}

/** Null too if the company has only moved to another cell, and is refused here for that (`refuseMoved` of packages/outbox). */
async function stateOf(database: Database, companyId: string, waitsFor: string | undefined): Promise<Erasure | null> {
  const { rows } = await database.of(companyId).query<Omit<Erasure, 'removed'> & { removed: Record<string, number> }>({
    name: 'erasure_of_company',
    text: `select begun_at, ended_at, removed, case when ended_at is null then ${waiting(waitsFor)} end as waits_for
      from erased_companies e where company_hash = $2 and ${OF_DELETION}`,
    values: [companyId, companyHash(companyId)],
  });
  const [row] = rows;
  return row === undefined ? null : { ...row, removed: listed(new Map(Object.entries(row.removed))) };
}

async function again(database: Database, companyId: string): Promise<void> {
  await database.of(companyId).query({
    name: 'erase_company_again',
    text: 'update erased_companies set id = $2, closed_at = null, ended_at = null where company_hash = $1 and ended_at is not null',
    values: [companyHash(companyId), companyId],
  });
}

const listed = (counts: ReadonlyMap<string, number>): { table: string; rows: number }[] => [...counts].map(([table, rows]) => ({ table, rows }));
