import { render } from 'preact';
import { App } from './app.tsx';
import { notice } from './state/notice.ts';

// A message is of the place where it was told. Places that are gone (goInstead) change no hash by themselves.
addEventListener('hashchange', () => notice.set(undefined));

const root = document.querySelector('#app') as HTMLElement;
root.replaceChildren();
render(<App />, root);
