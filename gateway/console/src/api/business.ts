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
  readonly name: string;
  readonly open: number;
  readonly overdue: number;
  /** Open balance by the API's names of ages. */
  readonly ages: Readonly<Record<string, number>>;
}

/** What customers owe, in cents: these, or all. Those that owe nothing are missing. */
export async function readOwed(ids: readonly string[] | undefined, signal: AbortSignal): Promise<ReadonlyMap<string, Owed>> {
  if (ids?.length === 0) return new Map();
  const { rows } = await readReport('receivables', { group_by: 'account', account_id: ids }, signal);
  const owed = new Map<string, Owed>();
  for (const [id, own] of Map.groupBy(rows, ({ group }) => group?.value ?? '')) {
    const ages = Object.fromEntries(own.map((row) => [row['bucket'] as string, row['open_balance_cents'] as number]));
    const { TOTAL: open = 0, CURRENT: current = 0 } = ages;
    owed.set(id, { name: own[0]!.group?.label ?? '', open, overdue: open - current, ages });
  }
  return owed;
}
