// Records of the business, by the API's description, and what customers owe.
import type { components } from '@truckroll/client';
import { request } from './client.ts';
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
export type FormResponse = Schemas['FormResponse'];
export type Interaction = Schemas['Interaction'];

/** Most records of one customer that a page loads. */
const MOST = 500;
/** The largest page, and most ids in one request. */
const PAGE = 100;

/** All records of a customer in a list, newest first by `date`. */
export async function readOf<T>(path: string, accountId: string, date: (record: T) => string, signal: AbortSignal): Promise<Listed<T>> {
  const { records, more } = await readList<T>(path, { account_id: accountId }, MOST, signal);
  return { records: [...records].sort((a, b) => date(b).localeCompare(date(a))), more };
}

/** The newest calls, messages and chats with a customer. */
export async function readInteractions(accountId: string, signal: AbortSignal): Promise<Listed<Interaction>> {
  const answer = await request('GET', 'interactions', { query: { accountId, limit: PAGE }, signal });
  const { nextCursor } = answer['pagination'] as { nextCursor: string | null };
  return { records: answer['data'] as Interaction[], more: nextCursor !== null };
}

/** Runs `read` on at most 100 ids at a time, as many as the API takes, and joins the answers. */
export async function inPages<T>(ids: readonly string[], read: (ids: readonly string[]) => Promise<readonly T[]>): Promise<T[]> {
  const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, page) => ids.slice(page * PAGE, (page + 1) * PAGE));
  return (await Promise.all(pages.map(read))).flat();
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
