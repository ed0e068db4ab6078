// Views that a user has saved, in this browser. They are addresses; figures and tokens are not stored.
import { session } from './session.ts';
import { Store } from './store.ts';

export interface SavedView {
  readonly name: string;
  readonly href: string;
}

/** Most views of one user. */
const MOST = 50;

/** Counts changes, for components that show the list. */
export const savedViewsVersion = new Store(0);

const keyOf = (): string => `truckroll.views.${session.value.me?.company.id}.${session.value.me?.id}`;

export function savedViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf()) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isView) : [];
  } catch {
    // Storage may be switched off, or hold something else.
    return [];
  }
}

/** Only addresses within the console: another program may have changed the storage. */
function isView(value: unknown): value is SavedView {
  const { name, href } = (value ?? {}) as Partial<SavedView>;
  return typeof name === 'string' && typeof href === 'string' && href.startsWith('#/reports/');
}

/** Replaces a view of the same name. Returns whether it could be stored. */
export function saveView(view: SavedView): boolean {
  return store([view, ...savedViews().filter(({ name }) => name !== view.name)].slice(0, MOST));
}

export function forgetView(name: string): void {
  store(savedViews().filter((view) => view.name !== name));
}

function store(views: readonly SavedView[]): boolean {
  try {
    if (views.length === 0) localStorage.removeItem(keyOf());
    else localStorage.setItem(keyOf(), JSON.stringify(views));
    return true;
  } catch {
    return false;
  } finally {
    savedViewsVersion.set(savedViewsVersion.value + 1);
  }
}
