// Records of the business, by the API's description, and what customers owe.
import type { components } from '@truckroll/client';
import { readList, readReport, type Listed } from './reports.ts';

type Schemas = components['schemas'];

export type Account = Schemas['Account'];
export type Contact = Schemas['Contact'];
export type Location = Schemas['Location'];
export type Job = Schemas['Job'];
export type Visit = Schemas['Visit'];
export type Equipment = Schemas['Equipment'];
export type Invoice = Schemas['Invoice'];
export type Payment = Schemas['Payment'];

/** Most records of one customer that a page loads. */
const MOST = 500;

/** All records of a customer in a list, newest first by `date`. */
export async function readOf<T>(path: string, accountId: string, date: (record: T) => string, signal: AbortSignal): Promise<Listed<T>> {
  const { records, more } = await readList<T>(path, { account_id: accountId }, MOST, signal);
  return { records: [...records].sort((a, b) => date(b).localeCompare(date(a))), more };
}

export interface Owed {
  readonly open: number;
  readonly overdue: number;
}

/** What each of these customers owes, in cents. Those that owe nothing are missing. */
export async function readOwed(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Owed>> {
  const owed = new Map<string, Owed>();
  if (ids.length === 0) return owed;
  const { rows } = await readReport('receivables', { group_by: 'account', account_id: ids }, signal);
  for (const { group, bucket, open_balance_cents: cents } of rows) {
    const id = group?.value;
    if (typeof id !== 'string' || typeof cents !== 'number') continue;
    const { open, overdue } = owed.get(id) ?? { open: 0, overdue: 0 };
    if (bucket === 'TOTAL') owed.set(id, { open: cents, overdue });
    else owed.set(id, { open, overdue: bucket === 'CURRENT' ? overdue : overdue + cents });
  }
  return owed;
}
