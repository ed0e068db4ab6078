// /docs as browsers and programs get it; its scripts are tested in test/console.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { generateApiKey, operations, publicEvents } from '@truckroll/contract';
import { codeBlock } from '../docs/src/code.ts';
import { markdown } from '../docs/src/markdown.ts';
import { clientWords } from '../src/clients.ts';
import { docsPages } from '../src/docs.ts';
import type { Document } from '../src/http/documents.ts';
import type { Page } from '../src/routes/public-pages.ts';
import { request, startGateway, type Answer, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
/** HTML of every page of the documentation, by path. */
const pages = new Map<string, Answer>();

beforeAll(async () => {
  gateway = await startGateway();
  const paths = ['/docs'];
  for (const path of paths) {
    if (pages.has(path)) continue;
    const page = await request(gateway.url + path);
    pages.set(path, page);
    for (const { pathname } of linksOf(path, page.text)) if (/^\/docs(\/|$)/.test(pathname) && !/\.\w+$/.test(pathname)) paths.push(pathname);
  }
});
afterAll(() => gateway.stop());

function linksOf(path: string, text: string): URL[] {
  return [...text.matchAll(/ (?:href|src|data-index)="([^"]+)"/g)].map(([, to]) => new URL(to!.replaceAll('&#38;', '&'), gateway.url + path));
}

test('has no broken link and loads nothing from other sites', async () => {
  expect(pages.size).toBeGreaterThan(40);
  const others = new Map<string, number>();
  const broken: string[] = [];
  for (const [path, { text }] of pages) {
    for (const url of linksOf(path, text)) {
      if (url.origin !== gateway.url) {
        expect(text).toContain(`<a href="${url.href.replace(/\/$/, '')}`);
        continue;
      }
      const target = pages.get(url.pathname);
      if (target === undefined && !others.has(url.pathname)) others.set(url.pathname, (await request(gateway.url + url.pathname)).status);
      const there =
        target === undefined ? others.get(url.pathname) === 200 : url.hash === '' || target.text.includes(` id="${decodeURIComponent(url.hash.slice(1))}"`);
      if (!there) broken.push(`${path} → ${url.pathname}${url.hash}`);
    }
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect([path, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([path, []]);
  }
  expect(broken).toEqual([]);
});

test('needs at most 100 kB for a first view, and may run and load nothing from outside', async () => {
  const parts = await Promise.all(['/docs/docs.css', '/docs/docs.js', '/console/icon.svg'].map((path) => request(gateway.url + path)));
  const sizeOf = ({ text }: Answer) => brotliCompressSync(text).length;
  const beside = parts.reduce((sum, part) => sum + sizeOf(part), 0);
  for (const [path, { text, headers }] of pages) {
    expect([path, beside + sizeOf({ text } as Answer) < 100_000]).toEqual([path, true]);
    expect(text).not.toMatch(/<style|<script>|<[^>]* (style|on[a-z]+)=|\[object |(?<!literal">)undefined<|\/undefined/);
    const policy = headers.get('content-security-policy')!;
    for (const rule of ["default-src 'none'", "script-src 'self'", "trusted-types 'none'"]) expect(policy).toContain(rule);
    expect(policy).not.toContain('unsafe');
  }
});

test('shows every operation with a sample in each language, its credential, and its body with required fields', () => {
  const all = [...pages.values()].map(({ text }) => text).join();
  const sections = [...pages.values()].flatMap(({ text }) => text.replace(/<\/main>.*/s, '').split('<section class="operation">'));
  for (const { route, verb, name, changedBy } of operations) {
    const id = name.charAt(0).toLowerCase() + name.slice(1);
    const section = sections.find((each) => each.includes(`<h2 id="${id}">`))!;
    expect(section).toContain(`>${verb}</span> <code>${route.replaceAll('{', '{')}</code>`);
    for (const language of ['bash', 'typescript', 'python']) expect(section).toContain(`id="${id}-${language}"`);
    expect(section).toContain(changedBy === 'user_token' ? 'TRUCKROLL_TOKEN' : 'TRUCKROLL_API_KEY');
    expect(section.includes(`id="${id}-body"`)).toBe(/-d .*\{/.test(section));
    for (const status of ['400', '401', '429', '500', '503']) expect(section).toContain(`docs/errors#error-${status}">${status}</a>`);
  }
  for (const { type } of publicEvents) expect(all).toContain(`>${type} <a class="anchor"`);
  expect(all).toMatch(/<code>expected_revision<\/code> <span class="note required">required</);
  expect(all).toMatch(/<code>allow_outside_window<\/code> <span class="note ">optional</);
});

test('serves each page as Markdown to programs, at .md or by Accept, and lists these pages for them', async () => {
  for (const path of pages.keys()) {
    const behind = await request(`${gateway.url}${path}.md`);
    const accepted = await request(gateway.url + path, { headers: { accept: 'text/markdown, text/html;q=0.5' } });
    expect([behind.status, behind.headers.get('content-type'), accepted.headers.get('vary')]).toEqual([
      200,
      'text/markdown; charset=utf-8',
      'Accept, Accept-Encoding',
    ]);
    expect([accepted.text, accepted.headers.get('content-type')]).toEqual([behind.text, behind.headers.get('content-type')]);
    expect(behind.text).toMatch(/^# /);
  }
  expect(pages.get('/docs')!.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const list = await request(`${gateway.url}/llms.txt`);
  expect(list.text).toMatch(/^# .*\n\n> /);
  const listed = [...list.text.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => `/${to}`);
  expect(listed.toSorted()).toEqual(['/clients/index.json', '/openapi.json', ...[...pages.keys()].map((path) => `${path}.md`)].toSorted());
});

test('shows each error once, on a page with an example of each status', () => {
  const { text } = pages.get('/docs/errors')!;
  for (const status of ['400', '401', '404', '409', '410', '429', '500', '503']) expect(text).toContain(`<h3 id="error-${status}">`);
  const others = [...pages].filter(([path]) => path.startsWith('/docs/reference/')).map(([, page]) => page.text);
  expect(others.join()).not.toContain('&quot;UNAUTHENTICATED&quot;');
  expect(others.join().split('id="schema-Invoice"')).toHaveLength(2);
});

test('draws how records refer to each other, and says the same in a table and to programs', async () => {
  const { text } = pages.get('/docs/records')!;
  expect(text).toMatch(/<svg class="map".*<text [^>]*>invoices<\/text>/s);
  expect(text).toContain('<code>line_items.job_id</code>'.replace('line_items.', ''));
  expect((await request(`${gateway.url}/docs/records.md`)).text).toMatch(/^\| invoices \| accounts \| `account` \|$/m);
});

test('shows a key only where the gateway is given one, and nothing else of the file', async () => {
  expect([...pages.values()].some(({ text }) => text.includes('name="demo"'))).toBe(false);
  expect((await request(`${gateway.url}/docs/demo.json`)).status).toBe(404);
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-docs-'));
  const file = join(folder, 'key');
  const shown = docsPages((text) => text, file);
  const at = (host: string) => (shown['/docs/demo.json'] as (exchange: unknown) => Page)({ req: { headers: { host } } });
  const demo = () => at('127.0.0.1:8080');
  try {
    expect(demo).toThrow('There is no demo company yet.');
    writeFileSync(file, 'a secret of the machine');
    expect(demo).toThrow('There is no demo company yet.');
    const key = generateApiKey();
    writeFileSync(file, key);
    for (const host of ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']) expect(JSON.parse(at(host).body.toString())).toEqual({ key });
    for (const host of ['127.0.0.1.example.com', 'localhost.example.com:8080', '']) expect(() => at(host)).toThrow('There is no demo company yet.');
    expect((shown['/docs'] as readonly Document[])[0]!.body.toString()).toContain('<meta name="demo"');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('makes the links of Markdown absolute where the gateway knows its address', () => {
  const text = '[Sync]({{at:../}}docs/sync.md), `npm install -g {{cli}}`';
  expect(clientWords('')(text)).toMatch(/^\[Sync\]\(\.\.\/docs\/sync\.md\), `npm install -g \$TRUCKROLL_URL\/clients\//);
  expect(clientWords('https://api.example.com')(text)).toMatch(
    /^\[Sync\]\(https:\/\/api\.example\.com\/docs\/sync\.md\), .*https:\/\/api\.example\.com\/clients\//,
  );
});

test('shows HTML in a text as text, and rejects code in an unknown language', () => {
  expect(markdown('a <b onclick=x> & `"c"`').text).toBe('<p>a &#60;b onclick=x&#62; &amp; <code>&quot;c&quot;</code></p>\n');
  expect(() => codeBlock('x', 'cobol')).toThrow('cobol');
});
