// What the last action did, in one sentence that stays until it is put away or the place is left.
import type { ComponentChildren } from 'preact';
import { Store } from './store.ts';

export const notice = new Store<ComponentChildren>(undefined);

export function tell(what: ComponentChildren): void {
  notice.set(what);
}
