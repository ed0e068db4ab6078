// Names of the records that reports are filtered by. Loaded once in a session.
import { useEffect, useState } from 'preact/hooks';
import type { Account } from '../api/business.ts';
import { readList } from '../api/reports.ts';
import { place, toldApart } from '../parts/words.ts';
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
  remembered(path, async () => named(toldApart((await readList<Named>(path, {}, MOST_CHOICES)).records)).sort(byName));

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

export interface Found extends Named {
  /** Place and telephone, by which customers of one name are told apart. */
  readonly beside: string;
}

/** The first customers that the API finds. */
export async function searchAccounts(search: string, signal: AbortSignal): Promise<readonly Found[]> {
  const { records } = await readList<Account>('accounts', { search, limit: MOST_FOUND }, MOST_FOUND, signal);
  return records.slice(0, MOST_FOUND).map((account) => ({
    id: account.id,
    name: account.name,
    beside: [place(account), account.phone ?? ''].filter((part) => part !== '').join(' · '),
  }));
}
