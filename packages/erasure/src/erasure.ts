// Removes companies from one service, and erases people (docs/adr/0024): rpcs for operators, and tasks of the catch-up engine that do the work.
import { ApiError, isUuid } from '@truckroll/contract';
import type { Erasure, ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import type { Handlers } from '@truckroll/grpc';
import { companyHash, markErased } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import type { ErasureOptions } from './options.ts';
import { people } from './people.ts';
import { removeNext, type Removing } from './remove.ts';
import { countRows, keyedRules, rulesOf } from './tables.ts';

/** Interval between progress reports in ms. */
const REPORT_MS = 500;

export function erasure(options: ErasureOptions): Handlers<typeof ErasureServiceService> {
  const { database, catchUp, restored, begin = (request) => mark(options, request.company_id) } = options;
  const own = [...(options.rules ?? []), ...keyedRules(restored.groups)];
  const removing: Removing = { ...options, own, at: new Map() };
  const runner = catchUp.add({ name: 'erase', due: () => removeNext(removing), worked: async () => options.poke() });
  const left = async (companyId: string) => listed(await countRows(database.of(companyId), await rulesOf(database, own), companyId));

  return {
    ...people(options),
    async getErasure({ company_id }) {
      requireId(company_id);
      return { erasure: await stateOf(database, company_id), left: await left(company_id) };
    },
    async *eraseCompany(request, { signal }) {
      const { company_id: companyId } = request;
      requireId(companyId);
      const before = await stateOf(database, companyId);
      if (before === null) await begin(request);
      // A replica of an earlier release may have stored something since.
      else if (before.ended_at != null && (await left(companyId)).length > 0) await again(database, companyId);
      for (;;) {
        runner.look();
        const state = await stateOf(database, companyId);
        yield { erasure: state };
        if (state?.ended_at != null) return;
        await pause(REPORT_MS, signal);
        signal.throwIfAborted();
      }
    },
  };
}

export function requireId(companyId: string): void {
  if (isUuid(companyId)) return;
  throw ApiError.invalid([{ location: 'body', field: 'company_id', code: 'INVALID_UUID', message: 'Give the id of the company, a UUID.' }]);
}

async function mark({ database, lock }: ErasureOptions, companyId: string): Promise<void> {
  await database.of(companyId).transaction(async (tx) => {
    await lock?.(tx, companyId);
    await markErased(tx, companyId);
  });
}

async function stateOf(database: Database, companyId: string): Promise<Erasure | null> {
  const { rows } = await database.of(companyId).query<{ begun_at: number; ended_at: number | null; removed: Record<string, number> }>({
    name: 'erasure_of_company',
    text: 'select begun_at, ended_at, removed from erased_companies where company_hash = $1',
    values: [companyHash(companyId)],
  });
  const [row] = rows;
  return row === undefined ? null : { begun_at: row.begun_at, ended_at: row.ended_at, removed: listed(new Map(Object.entries(row.removed))) };
}

async function again(database: Database, companyId: string): Promise<void> {
  await database.of(companyId).query({
    name: 'erase_company_again',
    text: 'update erased_companies set id = $2, closed_at = null, ended_at = null where company_hash = $1',
    values: [companyHash(companyId), companyId],
  });
}

const listed = (counts: ReadonlyMap<string, number>): { table: string; rows: number }[] => [...counts].map(([table, rows]) => ({ table, rows }));
