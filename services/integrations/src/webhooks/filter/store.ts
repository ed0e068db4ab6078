import { ApiError, type JsonProblem } from '@truckroll/contract';
import type { Transaction } from '@truckroll/postgres';
import { checkFilter } from './check.ts';
import type { EventFilter } from './compile.ts';
import { pathsOfType } from './paths.ts';
import { impossibleConditions } from './possible.ts';

/** Maximum size of a filter, and of a company's filters together, in bytes of UTF-8: the list of endpoints shows all at once (decisions §17). */
const MOST_BYTES = 16_384;
const MOST_BYTES_OF_COMPANY = 524_288;

/** Problems of a request's filter, if it has one, for an endpoint with these types. */
export function filterProblems(filter: string | null | undefined, eventTypes: readonly string[]): JsonProblem[] {
  const stored = storedFilter(filter);
  if (stored === null) return [];
  const bytes = Buffer.byteLength(stored);
  if (bytes > MOST_BYTES) return [{ field: 'filter', code: 'TOO_LARGE', message: `Shorten it to ${MOST_BYTES} bytes of UTF-8: it has ${bytes}.` }];
  return checkFilter(JSON.parse(stored), eventTypes.map(pathsOfType));
}

/** Problems of the filter that an endpoint is to have, if any, for events of its types. Includes those of conditions that nothing can fulfil. */
export function subscriptionProblems(filter: string | null | undefined, eventTypes: readonly string[]): JsonProblem[] {
  const problems = filterProblems(filter, eventTypes);
  const stored = storedFilter(filter);
  if (stored === null || problems.some(({ field }) => field === 'filter')) return problems;
  const isFaulty = (name: string): boolean => problems.some(({ field }) => `${field}.`.startsWith(`filter.${name}.`));
  const others = Object.entries(JSON.parse(stored) as EventFilter).filter(([name]) => !isFaulty(name));
  return [...problems, ...impossibleConditions(Object.fromEntries(others), eventTypes)];
}

/** The stored form of a request's filter. Requests that remove a filter send an empty text, which is stored as null. */
export function storedFilter(filter: string | null | undefined): string | null {
  return filter || null;
}

/** Null and undefined keep the filter. Requires the endpoint's lock. Throws 409 if the company's filters become too large together. */
export async function setFilter(tx: Transaction, companyId: string, id: string, filter: string | null | undefined): Promise<void> {
  if (filter == null) return;
  const stored = storedFilter(filter);
  if (stored !== null) await requireRoomForFilter(tx, companyId, id, Buffer.byteLength(stored));
  await tx.query({
    name: 'set_webhook_filter',
    text: 'update webhook_endpoints set filter = $3, updated_at = now() where company_id = $1 and id = $2',
    values: [companyId, id, stored],
  });
}

/** Locks the company until the transaction ends. A filter may always become shorter: together they may have been too large before this limit. */
async function requireRoomForFilter(tx: Transaction, companyId: string, id: string, bytes: number): Promise<void> {
  await tx.query({ name: 'lock_webhook_filters', text: 'select from companies where id = $1 for no key update', values: [companyId] });
  // A separate statement, so that it sees what the previous holder of the lock has committed.
  const { rows } = await tx.query<{ own: number; others: number }>({
    name: 'measure_webhook_filters',
    text: `select coalesce(sum(octet_length(filter)) filter (where id = $2), 0)::int as own,
        coalesce(sum(octet_length(filter)) filter (where id <> $2), 0)::int as others
      from webhook_endpoints where company_id = $1 and deleted_at is null`,
    values: [companyId, id],
  });
  const { own, others } = rows[0] as { own: number; others: number };
  if (others + bytes <= MOST_BYTES_OF_COMPANY || bytes <= own) return;
  const message = `The filters of the company's other endpoints have ${others} bytes, and all together may have ${MOST_BYTES_OF_COMPANY}.`;
  throw new ApiError('LIMIT_REACHED', `${message} Shorten this filter or another one.`);
}
