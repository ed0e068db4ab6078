// Views that the users of the company have saved. Earlier releases kept them in the browser, from which they are moved to the API.
import { listViews, saveView } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import type { View } from '../api/types.ts';
import { session } from './session.ts';

type Kept = Pick<View, 'name' | 'query'>;

/** A view of this browser that the API refuses. */
export interface Refused extends Kept {
  readonly reason: string;
}

export interface Views {
  readonly views: readonly View[];
  readonly refused: readonly Refused[];
  /** Why views could not be moved to the API now. */
  readonly problem?: Problem;
}

export const isOwn = ({ createdBy }: View): boolean => createdBy.id === session.value.me?.id;

/** Names that an address cannot end with. */
const NOT_NAMES: readonly string[] = ['', '.', '..'];

/** Saves a view of the user. */
export async function saveNamed(view: Pick<View, 'name' | 'query' | 'shared'>): Promise<void> {
  if (NOT_NAMES.includes(view.name)) {
    const message = `Give the view a name${view.name === '' ? '.' : ' other than . and ..'}`;
    throw new Problem(message, { status: 400, code: 'INVALID_REQUEST', details: [{ field: 'name', code: 'INVALID_FORMAT', message }] });
  }
  await saveView(view);
}

/** The user's views and those that others share. */
export async function loadViews(signal: AbortSignal): Promise<Views> {
  const key = keyOfUser();
  const kept = viewsIn(key);
  const views = await listViews(signal);
  if (kept.length === 0) return { views, refused: [] };
  try {
    const refused = await move(key, kept, views.filter(isOwn), signal);
    return { views: await listViews(signal), refused };
  } catch (error) {
    if (signal.aborted) throw error;
    return { views, refused: [], problem: Problem.of(error) };
  }
}

/** Removes a view from this browser. */
export function forgetKept({ name, query }: Kept): void {
  const key = keyOfUser();
  keep(
    key,
    viewsIn(key).filter((each) => each.name !== name || each.query !== query),
  );
}

const keyOfUser = (): string => `truckroll.views.${session.value.me?.company.id}.${session.value.me?.id}`;

/** Saves the views of the browser, each under a name that is free, and forgets each of them once it is saved. One that the API refuses stays, and stops no other. */
async function move(key: string, kept: readonly Kept[], own: readonly View[], signal: AbortSignal): Promise<Refused[]> {
  const queries = new Map(own.map(({ name, query }) => [name, query]));
  const refused: Refused[] = [];
  for (const [at, { name, query }] of kept.entries()) {
    // The user may have signed out, and another one in.
    signal.throwIfAborted();
    let free = name;
    for (let n = 2; queries.has(free) && queries.get(free) !== query; n++) free = `${name} (${n})`;
    try {
      if (!queries.has(free)) await saveNamed({ name: free, query, shared: false });
      queries.set(free, query);
    } catch (error) {
      const { status, message, details } = Problem.of(error);
      if (status !== 400 && status !== 409) throw error;
      refused.push({ name, query, reason: details[0]?.message ?? message });
    }
    keep(key, [...refused, ...kept.slice(at + 1)]);
  }
  return refused;
}

function viewsIn(key: string): readonly Kept[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? stored.flatMap(keptOf) : [];
  } catch {
    // Storage may be switched off, or hold something else.
    return [];
  }
}

/** Only addresses within the console: another program may have changed the storage. */
function keptOf(value: unknown): Kept[] {
  const { name, href } = (value ?? {}) as { name?: unknown; href?: unknown };
  return typeof name === 'string' && typeof href === 'string' && href.startsWith('#/reports/') ? [{ name, query: href.slice(1) }] : [];
}

function keep(key: string, views: readonly Kept[]): void {
  if (views.length === 0) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(views.map(({ name, query }) => ({ name, href: `#${query}` }))));
}
