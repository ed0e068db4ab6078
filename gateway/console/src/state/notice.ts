// The result of the last action in one sentence, shown until it is dismissed or the user leaves the screen.
import type { ComponentChildren } from 'preact';
import { Store } from './store.ts';

export const notice = new Store<ComponentChildren>(undefined);

export function announce(what: ComponentChildren): void {
  notice.set(what);
}
