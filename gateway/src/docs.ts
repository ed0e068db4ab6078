// /docs, and the browsers' 404 page: serves what scripts/build-docs.mjs makes from gateway/docs, openapi.json and docs/.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError, isApiKey } from '@truckroll/contract';
import { Document, pageHeaders } from './http/documents.ts';
import { rootFrom } from './http/exchange.ts';
import { redirect, type Page, type PublicPage } from './routes/public-pages.ts';

const FOLDER = join(import.meta.dirname, '../docs/gen');
const HTML = 'text/html; charset=utf-8';

const HEADERS = pageHeaders({ connect: "'self'", images: "'self'" });

/** Marks pages whose samples can be run. An element, because the policy allows no inline script. */
const DEMO = '<meta name="demo" content="docs/demo.json">\n</head>';

/**
 * The documentation's pages by path. If a page has several forms, HTML is the first. `words` fills in words; `demoKeyFile` holds the key of a
 * demo company, with which readers run samples. Throws if they are missing.
 */
export function docsPages(words: (text: string) => string, demoKeyFile?: string): Record<string, PublicPage> {
  const read = (name: string): string => words(readFileSync(join(FOLDER, name), 'utf8'));
  const text = (type: string, name: string): string => (type === HTML && demoKeyFile !== undefined ? read(name).replace('</head>', DEMO) : read(name));
  const served = JSON.parse(readFileSync(join(FOLDER, 'served.json'), 'utf8')) as { path: string; name: string; type: string }[];
  const pages: Record<string, PublicPage> = { '/docs/': redirect(308, '../docs', 'The documentation is at /docs.') };
  for (const [path, forms] of Map.groupBy(served, (each) => each.path)) {
    const [first, ...others] = forms.map(({ name, type }) => new Document(type, text(type, name), HEADERS));
    if (first !== undefined) pages[path] = others.length === 0 ? first : [first, ...others];
  }
  if (demoKeyFile !== undefined) pages['/docs/demo.json'] = ({ req }) => demoPage(demoKeyFile, req.headers.host);
  return pages;
}

/** Names of this machine. A foreign page that reaches it by another name (DNS rebinding) gets no key. */
const OWN_NAME = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/** Serves nothing of the file but an API key: `npm start` writes it once the demo company exists. */
function demoPage(file: string, host = ''): Page {
  const key = OWN_NAME.test(host) && existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (!isApiKey(key)) throw new ApiError('NOT_FOUND', 'There is no demo company yet.');
  return { status: 200, type: 'application/json', body: Buffer.from(JSON.stringify({ key })) };
}

/** The 404 page for each unknown path. Its links are relative, so pages at paths of the same depth are the same. */
export function missingPages(): (path: string) => Document {
  const html = readFileSync(join(FOLDER, 'missing.html'), 'utf8');
  const pages = new Map<string, Document>();
  return (path) => {
    const root = rootFrom(path);
    const page = pages.get(root) ?? new Document(HTML, html.replaceAll('{{root}}', root), HEADERS, 404);
    pages.set(root, page);
    return page;
  };
}
