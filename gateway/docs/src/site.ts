// Builds everything below /docs from gateway/openapi.json and docs/: pages as HTML and Markdown, the search index, and the 404 page.
import { join } from 'node:path';
import { readDescription } from './description.ts';
import { guidePages } from './guides.ts';
import { errorsPage } from './errors-page.ts';
import { Html, html } from './html.ts';
import { forPrograms, layout, rootFrom, type SitePage } from './layout.ts';
import { renderMarkdown } from './markdown.ts';
import type { OperationView } from './views.ts';
import { recordsPage } from './records.ts';
import { referenceOf } from './reference.ts';
import { searchEntries } from './search-entries.ts';

export interface SiteFile {
  /** Where the file is served; files with the same path are alternative forms of one document. Empty if it is not served by its path. */
  path: string;
  name: string;
  type: string;
  text: string;
}

export interface Site {
  files: SiteFile[];
  operations: OperationView[];
}

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** Placeholder in the 404 page. The gateway replaces it with the path at which browsers find the gateway. */
const ROOT = '{{root}}';

/** `root` is the project's folder. Throws if a link is broken or an example cannot be made. */
export function buildSite(root: string): Site {
  const description = readDescription(join(root, 'gateway'));
  const reference = referenceOf(description);
  const records = recordsPage();
  const guides = guidePages(join(root, 'docs'), new Set([records, ...reference.pages].map(({ path }) => path)));
  const { Guides: own = [], ...others } = Object.groupBy(guides, ({ group }) => group);
  const known = own.map((page) =>
    page.path === '/docs' ? homePage(page, description.info) : page.path === '/docs/errors' ? errorsPage(page, reference.operations) : page,
  );
  const pages = [...known, records, ...reference.pages, ...Object.values(others).flatMap((group) => group ?? [])];
  const missing: SitePage = {
    path: '',
    title: 'Nothing is at this address',
    group: '',
    description: 'Nothing is at this address.',
    headings: [],
    markdown: '',
    body: html`<p>There is <a href="${ROOT}docs">the documentation</a>, <a href="${ROOT}console">the console</a>, and <a href="${ROOT}openapi.json">the description for machines</a>.</p>`,
  };
  const files = [
    ...pages.flatMap((page): SiteFile[] => {
      const [name, text] = [`${page.path.slice(1)}.md`, withDirective(page)];
      return [
        { path: page.path, name: `${page.path.slice(1)}.html`, type: HTML, text: layout(page, pages).text },
        { path: page.path, name, type: MARKDOWN, text },
        { path: `${page.path}.md`, name, type: MARKDOWN, text },
      ];
    }),
    { path: '/docs/search.json', name: 'search.json', type: 'application/json', text: JSON.stringify(searchEntries(pages)) },
    { path: '/llms.txt', name: 'llms.txt', type: 'text/plain; charset=utf-8', text: llms(description.info, pages) },
    { path: '', name: 'missing.html', type: HTML, text: layout(missing, pages, ROOT).text },
  ];
  return { files, operations: reference.operations };
}

/** Programs that come to one page find the others (https://agentdocsspec.com). */
function withDirective({ path, markdown }: SitePage): string {
  return markdown.replace(/^(# .*\n)/, `$1\n> [/llms.txt](${forPrograms(`${rootFrom(path)}llms.txt`)}) lists every page.\n`);
}

/** The overview, whose tasks become cards, and what applies to the whole API. */
function homePage(page: SitePage, info: { title: string; version: string; 'x-release': string; description: string }): SitePage {
  const root = rootFrom(page.path);
  const { body, headings } = renderMarkdown(info.description.replace(/^.*\n\n/, ''));
  return {
    ...page,
    headings: [...page.headings, ...headings],
    body: html`${cards(page.body)}
<p>Version ${info.version}, as release ${info['x-release']} serves it. For machines: <a href="${root}openapi.json">openapi.json</a>, <a href="${root}llms.txt">llms.txt</a>, and this page and every other one with <code>.md</code> behind its address. What changes is announced in the <a href="${root}docs/changelog">changelog</a>.</p>
${body}`,
    markdown: `${page.markdown}\nVersion ${info.version}, as release ${info['x-release']} serves it. For machines: [openapi.json](${forPrograms('openapi.json')}), [llms.txt](${forPrograms('llms.txt')}), and this page and every other one with \`.md\` behind its address. What changes is announced in the [changelog](${forPrograms('docs/changelog.md')}).\n\n${info.description.replace(/^.*\n\n/, '')}`,
  };
}

/** Puts each part under a heading of level 3 into a card. */
function cards({ text }: Html): Html {
  const [before = '', ...parts] = text.split(/(?=<h3 )/);
  const [last = '', after = ''] = (parts.pop() ?? '').split(/(?=<h2 )/);
  return new Html(`${before}<ul class="cards">${[...parts, last].map((part) => `<li>${part}</li>`).join('')}</ul>${after}`);
}

/** The list of all pages for programs (https://llmstxt.org). */
function llms(info: { title: string; description: string }, pages: readonly SitePage[]): string {
  const [first = ''] = info.description.split('\n\n');
  const groups = [...Map.groupBy(pages, ({ group }) => group)].map(([group, members]) =>
    [`## ${group}`, '', ...members.map(({ path, title, description }) => `- [${title}](${forPrograms(`${path.slice(1)}.md`)}): ${description}`), ''].join('\n'),
  );
  return [
    `# ${info.title}`,
    '',
    `> ${first}`,
    '',
    'The whole description for machines (OpenAPI 3.1) is at [openapi.json]({{at:}}openapi.json).',
    '',
    '## Clients',
    '',
    'TRUCKROLL_URL is the address of this API. [The list of packages]({{at:}}clients/index.json) has their digests.',
    '',
    '- Command line: `npm install -g {{cli}}`, or without installing `npx -y {{cli}} --help`',
    '- TypeScript: `npm install {{client}}`',
    '- Python: `pip install {{whl}}`',
    '',
    ...groups,
  ].join('\n');
}
