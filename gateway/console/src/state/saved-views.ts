// Views that the users of the company have saved. Earlier releases kept them in the browser, from which they are moved to the API.
import { listViews, saveView } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import type { View } from '../api/types.ts';
import { session } from './session.ts';

type Kept = Pick<View, 'name' | 'query'>;

export interface Views {
  readonly views: readonly View[];
  /** Why some views are still in this browser. */
  readonly problem?: Problem;
}

export const isOwn = ({ createdBy }: View): boolean => createdBy.id === session.value.me?.id;

/** The user's views and those that others share. */
export async function loadViews(signal: AbortSignal): Promise<Views> {
  const key = `truckroll.views.${session.value.me?.company.id}.${session.value.me?.id}`;
  const kept = viewsIn(key);
  const views = await listViews(signal);
  if (kept.length === 0) return { views };
  try {
    const problem = await move(key, kept, views.filter(isOwn), signal);
    return { views: await listViews(signal), ...(problem && { problem }) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { views, problem: Problem.of(error) };
  }
}

/** Saves the views of the browser, each under a name that is free, and forgets each of them once it is saved. One that the API refuses stays, and stops no other. */
async function move(key: string, kept: readonly Kept[], own: readonly View[], signal: AbortSignal): Promise<Problem | undefined> {
  const queries = new Map(own.map(({ name, query }) => [name, query]));
  const refused: Kept[] = [];
  let problem: Problem | undefined;
  for (const [at, { name, query }] of kept.entries()) {
    // The user may have signed out, and another one in.
    signal.throwIfAborted();
    let free = name;
    for (let n = 2; queries.has(free) && queries.get(free) !== query; n++) free = `${name} (${n})`;
    try {
      if (!queries.has(free)) await saveView({ name: free, query, shared: false });
      queries.set(free, query);
    } catch (error) {
      const { status, message } = Problem.of(error);
      if (status !== 400 && status !== 409) throw error;
      refused.push({ name, query });
      problem ??= new Problem(`“${name}” cannot be saved: ${message}`);
    }
    keep(key, [...refused, ...kept.slice(at + 1)]);
  }
  return problem;
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
