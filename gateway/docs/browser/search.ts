// The search: a combobox whose options link to the results. The index is loaded when the search is first used.
import { indexOf, type Entry, type Index } from './index.ts';

export function startSearch(): void {
  const place = document.getElementById('search');
  if (place === null) return;
  const { index = '', root = '' } = place.dataset;
  const input = document.createElement('input');
  Object.assign(input, { type: 'search', placeholder: 'Search', autocomplete: 'off', spellcheck: false });
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-label': 'Search the documentation',
    'aria-controls': 'results',
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
    'aria-keyshortcuts': '/',
  }))
    input.setAttribute(name, value);
  const list = document.createElement('ul');
  list.id = 'results';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Found');
  const status = document.createElement('span');
  status.className = 'unseen';
  status.setAttribute('role', 'status');
  place.append(input, list, status);
  place.hidden = false;

  let loading: Promise<Index> | undefined;
  const load = (): Promise<Index> =>
    (loading ??= loadIndex(index).catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  let active = -1;
  function activate(next: number): void {
    const options = [...list.children] as HTMLElement[];
    options[active]?.setAttribute('aria-selected', 'false');
    active = options.length === 0 ? -1 : (next + options.length) % options.length;
    options[active]?.setAttribute('aria-selected', 'true');
    options[active]?.scrollIntoView({ block: 'nearest' });
    if (active < 0) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `result-${active}`);
  }

  function close(): void {
    list.hidden = true;
    list.replaceChildren();
    status.textContent = '';
    input.setAttribute('aria-expanded', 'false');
    activate(-1);
  }

  async function search(): Promise<void> {
    const asked = input.value.trim();
    if (asked === '') return close();
    let found: Entry[];
    try {
      found = (await load()).find(asked);
    } catch {
      status.textContent = 'The search could not be loaded.';
      return;
    }
    if (asked !== input.value.trim()) return;
    list.replaceChildren(...found.map((entry, at) => option(entry, at, root)));
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', String(found.length > 0));
    status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found`;
    activate(0);
  }

  input.addEventListener('focus', () => void load().catch(() => undefined));
  input.addEventListener('input', () => void search());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      activate(active + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      (list.children[active] as HTMLElement | undefined)?.click();
    } else if (event.key === 'Escape') {
      input.value = '';
      close();
    }
  });
  list.addEventListener('click', () => close());
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !place.contains(target)) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}

async function loadIndex(address: string): Promise<Index> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the search index answered ${response.status}`);
  return indexOf((await response.json()) as Entry[]);
}

function option({ id, title, page }: Entry, at: number, root: string): HTMLLIElement {
  const item = document.createElement('li');
  item.id = `result-${at}`;
  item.setAttribute('role', 'option');
  item.setAttribute('aria-selected', 'false');
  item.addEventListener('click', () => location.assign(root + id));
  item.append(title);
  if (page !== title) {
    const where = document.createElement('span');
    where.textContent = page;
    item.append(' ', where);
  }
  return item;
}
