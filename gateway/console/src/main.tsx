import { render } from 'preact';
import { App } from './app.tsx';
import { enter } from './state/entry.ts';
import { notice } from './state/notice.ts';

// A message disappears when the user leaves its screen. goInstead fires no hashchange, so its message stays.
addEventListener('hashchange', () => notice.set(undefined));

const root = document.querySelector('#app') as HTMLElement;
root.replaceChildren();
void enter();
render(<App />, root);
