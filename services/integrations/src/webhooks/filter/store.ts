import type { JsonProblem } from '@truckroll/contract';
import type { Transaction } from '@truckroll/postgres';
import { checkFilter } from './check.ts';
import { pathsOfType } from './paths.ts';

/** Problems of a request's filter, if it has one, for an endpoint with these types. */
export function filterProblems(filter: string | null | undefined, eventTypes: readonly string[]): JsonProblem[] {
  const stored = storedFilter(filter);
  return stored === null ? [] : checkFilter(JSON.parse(stored), eventTypes.map(pathsOfType));
}

/** The stored form of a request's filter. Requests that remove a filter send an empty text, which is stored as null. */
export function storedFilter(filter: string | null | undefined): string | null {
  return filter || null;
}

/** Null and undefined keep the filter. Requires the endpoint's lock. */
export async function setFilter(tx: Transaction, companyId: string, id: string, filter: string | null | undefined): Promise<void> {
  if (filter == null) return;
  await tx.query({
    name: 'set_webhook_filter',
    text: 'update webhook_endpoints set filter = $3, updated_at = now() where company_id = $1 and id = $2',
    values: [companyId, id, storedFilter(filter)],
  });
}
