// The guides: files of docs/ that are written for those who integrate, as pages and as Markdown.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { rootFrom, type SitePage } from './layout.ts';
import { firstSentence, renderMarkdown } from './markdown.ts';

/** By file of docs/, in the order of reading. What links to another file of them leads to its page. */
const GUIDES: Readonly<Record<string, string>> = {
  'guides/start.md': '/docs/start',
  'guides/errors.md': '/docs/errors',
  'guides/sync.md': '/docs/sync',
  'guides/webhooks.md': '/docs/webhooks',
  'guides/verify.md': '/docs/verify',
  'reports.md': '/docs/reports',
  'changelog.md': '/docs/changelog',
};

export const guideFiles = Object.keys(GUIDES);

/** `others` are the paths of pages that are no guides. Throws where a link leads nowhere. */
export function guidePages(docs: string, others: ReadonlySet<string>): SitePage[] {
  return Object.entries(GUIDES).map(([file, path]) => {
    const text = readFileSync(join(docs, file), 'utf8');
    const title = /^# (.*)\n/.exec(text)?.[1];
    if (title === undefined) throw new Error(`docs/${file} does not begin with a title`);
    const link = linkFrom(docs, file, path, others);
    const content = text.replace(/^# .*\n/, '');
    const { body, headings } = renderMarkdown(content, { link: (href) => link(href, '') });
    const description = firstSentence(content.trim().split('\n\n')[0] ?? '');
    // What tells check:docs to run a fence is nothing to readers.
    const markdown = relinked(text, (href) => link(href, '.md')).replace(/^(```\w+) check$/gm, '$1');
    return { path, title, group: 'Guides', description, body, headings, markdown };
  });
}

/** Markdown whose links lead elsewhere, or are no links any more. */
function relinked(text: string, link: (href: string) => string | undefined): string {
  return text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, href: string) => {
    const to = link(href);
    return to === undefined ? words : `[${words}](${to})`;
  });
}

/** `ending` goes behind the path of a page. What a link says stands without it where only the project has what it leads to. */
function linkFrom(docs: string, file: string, path: string, others: ReadonlySet<string>): (href: string, ending: string) => string | undefined {
  return (href, ending) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [target = '', anchor] = href.split('#');
    const inside = target.startsWith('/') ? target : GUIDES[posix.normalize(posix.join(posix.dirname(file), target))];
    const known =
      inside !== undefined &&
      (others.has(inside) || Object.values(GUIDES).includes(inside) || ['/console', '/openapi.json', '/llms.txt', '/docs'].includes(inside));
    if (!known) {
      if (!target.startsWith('/') && existsSync(join(docs, dirname(file), target))) return undefined;
      throw new Error(`docs/${file} links to ${href}, which is nowhere`);
    }
    const page = others.has(inside) || inside.startsWith('/docs/');
    return `${rootFrom(path)}${inside.slice(1)}${page ? ending : ''}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}
