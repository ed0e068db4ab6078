// Where the gateway has a key of a demo company (`npm start`): samples have that key and the address, and reads can be run on the page.

/** Longest JSON that is shown, in characters. */
const LONGEST = 50_000;
const EXAMPLE_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/;

/** The address of the API without a slash at its end. */
const addressOf = (root: string): string => new URL(root === '' ? './' : root, location.href).href.replace(/\/$/, '');

export async function runSamples(): Promise<void> {
  if (document.querySelector('meta[name="demo"]') === null) return;
  const address = addressOf(document.getElementById('search')?.dataset['root'] ?? '');
  const response = await fetch(`${address}/docs/demo.json`);
  // The demo company is made after the first start of the gateway.
  if (!response.ok) return;
  const { key } = (await response.json()) as { key: string };
  for (const code of document.querySelectorAll('.code code')) fill(code, address, key);
  for (const samples of document.querySelectorAll<HTMLElement>('.samples[data-path]')) addButton(samples, address, key);
}

function fill(code: Element, address: string, key: string): void {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const text = texts.currentNode as Text;
    const filled = text.data
      .replaceAll('$TRUCKROLL_URL', address)
      .replaceAll('$TRUCKROLL_API_KEY', key)
      .replace('TRUCKROLL_URL=http://127.0.0.1:8080', `TRUCKROLL_URL=${address}`)
      .replace('trk_…', key);
    if (filled !== text.data) text.data = filled;
  }
}

function addButton(samples: HTMLElement, address: string, key: string): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small';
  button.textContent = 'Run';
  const status = document.createElement('span');
  status.setAttribute('role', 'status');
  const answer = document.createElement('pre');
  answer.tabIndex = 0;
  answer.hidden = true;
  const place = document.createElement('div');
  place.className = 'run';
  place.append(button, ' ', status, answer);
  samples.after(place);
  button.addEventListener('click', () => {
    status.textContent = 'Asking …';
    answer.hidden = true;
    void run(samples.dataset as { path: string; list?: string }, address, key).then(
      ({ line, text }) => {
        status.textContent = line;
        answer.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… (cut)` : text;
        answer.hidden = false;
      },
      () => (status.textContent = 'The gateway does not answer.'),
    );
  });
}

async function run({ path, list }: { path: string; list?: string }, address: string, key: string): Promise<{ line: string; text: string }> {
  const ask = (target: string): Promise<Response> => fetch(address + target, { headers: { authorization: `Bearer ${key}` } });
  let target = path;
  if (list !== undefined) {
    const listed = await ask(`${list}?limit=1`);
    if (!listed.ok) return { line: `GET ${list}: ${listed.status}`, text: await listed.text() };
    const { data } = (await listed.json()) as { data: { id: string }[] };
    if (data[0] === undefined) return { line: 'The demo company has none.', text: '{"data": []}' };
    target = path.replace(EXAMPLE_ID, data[0].id);
  }
  const startedAt = performance.now();
  const response = await ask(target);
  const body = await response.text();
  const text = response.headers.get('content-type')?.includes('json') === true ? JSON.stringify(JSON.parse(body), null, 2) : body;
  return { line: `GET ${target}: ${response.status} in ${Math.round(performance.now() - startedAt)} ms`, text };
}
