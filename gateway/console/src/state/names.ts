// Names of the records that reports are filtered by. Loaded once in a session.
import { useEffect, useState } from 'preact/hooks';
import { readList, readPage } from '../api/reports.ts';
import { session } from './session.ts';

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Most business units, job types or team members to choose from. */
const MOST_CHOICES = 2_000;
/** Most customers that a search lists. */
const MOST_FOUND = 20;

const known = new Map<string, Promise<readonly Named[]>>();
const inSession = (text: string): string => `${session.value.number} ${session.value.me?.company.id} ${text}`;

function remembered(key: string, load: () => Promise<readonly Named[]>): Promise<readonly Named[]> {
  const of = inSession(key);
  let names = known.get(of);
  if (names === undefined) {
    names = load();
    known.set(of, names);
    names.catch(() => known.delete(of));
  }
  return names;
}

const named = (records: readonly Named[]): Named[] => records.map(({ id, name }) => ({ id, name }));
const byName = (a: Named, b: Named): number => a.name.localeCompare(b.name);

export const readNames = (path: string): Promise<readonly Named[]> =>
  remembered(path, async () => named((await readList<Named>(path, {}, MOST_CHOICES)).records).sort(byName));

export function readAccountNames(ids: readonly string[]): Promise<readonly Named[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return remembered(`accounts ${ids.join()}`, async () => named((await readList<Named>('accounts', { ids }, ids.length)).records));
}

/** The names that `load` resolves to; undefined until then. */
export function useNames(key: string, load: () => Promise<readonly Named[]>): readonly Named[] | undefined {
  const [loaded, setLoaded] = useState<{ key: string; names: readonly Named[] } | undefined>(undefined);
  useEffect(() => {
    let current = true;
    // A name that could not be loaded is shown as its id.
    void load().then(
      (names) => current && setLoaded({ key, names }),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [key]);
  return loaded?.key === key ? loaded.names : undefined;
}

interface Seen {
  readonly accounts: Named[];
  cursor: string | undefined;
  complete: boolean;
}
const accounts = new Map<string, Seen>();

export interface Found {
  readonly names: readonly Named[];
  /** Accounts looked at so far. */
  readonly searched: number;
  readonly complete: boolean;
}

/** Looks for accounts by a part of their name, page after page, because the API has no such filter. Pages are kept for the next search. */
export async function searchAccounts(text: string, signal: AbortSignal, onProgress: (found: Found) => void): Promise<void> {
  const key = inSession('');
  const seen = accounts.get(key) ?? { accounts: [], cursor: undefined, complete: false };
  accounts.set(key, seen);
  const wanted = text.toLowerCase();
  for (;;) {
    const names = seen.accounts.filter(({ name }) => name.toLowerCase().includes(wanted)).sort(byName);
    const enough = seen.complete || names.length >= MOST_FOUND;
    onProgress({ names: names.slice(0, MOST_FOUND), searched: seen.accounts.length, complete: enough });
    if (enough || signal.aborted) return;
    const asked = seen.cursor;
    const { records, cursor } = await readPage<Named>('accounts', { cursor: asked }, signal);
    // Another search may have loaded the same page.
    if (seen.complete || seen.cursor !== asked) continue;
    seen.accounts.push(...named(records));
    seen.cursor = cursor;
    seen.complete = cursor === undefined;
  }
}
