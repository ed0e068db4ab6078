// The guides: files of docs/ for people who integrate or operate, as HTML pages and as Markdown.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { forPrograms, rootFrom, type SitePage } from './layout.ts';
import { firstSentence, renderMarkdown } from './markdown.ts';

/** Pages by file of docs/, in reading order and by the heading of the navigation. Links to these files become links to their pages. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Guides: {
    'overview.md': '/docs',
    'tutorials/first-integration.md': '/docs/start',
    'how-to/command-line.md': '/docs/command-line',
    'reference/errors.md': '/docs/errors',
    'how-to/find.md': '/docs/find',
    'how-to/requests.md': '/docs/requests',
    'how-to/connect-an-assistant.md': '/docs/connect-an-assistant',
    'how-to/sync.md': '/docs/sync',
    'how-to/webhooks.md': '/docs/webhooks',
    'how-to/verify-webhooks.md': '/docs/verify',
    'reference/reports.md': '/docs/reports',
    'how-to/spreadsheet.md': '/docs/spreadsheet',
    'how-to/console.md': '/docs/console',
    'explanation/consistency.md': '/docs/consistency',
    'changelog.md': '/docs/changelog',
  },
  'For operators': {
    'tutorials/first-deployment.md': '/docs/first-deployment',
    'how-to/install.md': '/docs/install',
    'how-to/verify-a-release.md': '/docs/verify-a-release',
    'how-to/managed-servers.md': '/docs/managed-servers',
    'how-to/scale.md': '/docs/scale',
    'how-to/growing.md': '/docs/growing',
    'how-to/upgrade.md': '/docs/upgrade',
    'how-to/argo-cd.md': '/docs/argo-cd',
    'how-to/back-up-and-restore.md': '/docs/back-up-and-restore',
    'how-to/rotate-secrets.md': '/docs/rotate-secrets',
    'how-to/when-a-company-leaves.md': '/docs/when-a-company-leaves',
    'how-to/freeze-a-company.md': '/docs/freeze-a-company',
    'how-to/move-a-company.md': '/docs/move-a-company',
    'how-to/sign-in.md': '/docs/sign-in',
    'how-to/notifications.md': '/docs/notifications',
    'how-to/run-webhooks.md': '/docs/run-webhooks',
    'how-to/runbook.md': '/docs/runbook',
    'reference/configuration.md': '/docs/configuration',
    'reference/cli.md': '/docs/cli',
    'reference/limits.md': '/docs/limits',
    'reference/metrics.md': '/docs/metrics',
    'reference/logs-and-traces.md': '/docs/logs-and-traces',
    'reference/topics.md': '/docs/topics',
    'reference/audit-trail.md': '/docs/audit-trail',
    'explanation/security.md': '/docs/security',
  },
};
const GUIDES: Readonly<Record<string, string>> = Object.fromEntries(Object.values(GROUPS).flatMap((pages) => Object.entries(pages)));

export const guideFiles = Object.keys(GUIDES);

/** `others` are the paths of the other pages. Throws if a link is broken. */
export function guidePages(docs: string, others: ReadonlySet<string>): SitePage[] {
  const files = Object.entries(GROUPS).flatMap(([group, pages]) => Object.entries(pages).map(([file, path]) => ({ group, file, path })));
  return files.map(({ group, file, path }) => {
    const text = namingClients(readFileSync(join(docs, file), 'utf8'));
    const title = /^# (.*)\n/.exec(text)?.[1];
    if (title === undefined) throw new Error(`docs/${file} does not begin with a title`);
    const link = linkFrom(docs, file, path, others);
    const content = text.replace(/^# .*\n/, '');
    const { body, headings } = renderMarkdown(content, { link: (href) => link(href, '') });
    const description = firstSentence(content.trim().split('\n\n')[0] ?? '');
    // The mark that makes check:docs run a fence is not for readers.
    const markdown = relinked(text, (href) => forPrograms(link(href, '.md'))).replace(/^(```\w+) check$/gm, '$1');
    return { path, title, group, description, body, headings, markdown };
  });
}

/** Has the gateway fill in the addresses of the clients' packages, with its own and the version. */
function namingClients(text: string): string {
  return text.replace(/\$TRUCKROLL_URL\/clients\/<version>\/truckroll-(?:(cli|client)-<version>\.tgz|[\w.<>-]+\.whl)/g, (_, word = 'whl') => `{{${word}}}`);
}

/** Markdown with each link replaced by `link`; undefined removes the link and keeps its words. */
function relinked(text: string, link: (href: string) => string | undefined): string {
  return text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, href: string) => {
    const to = link(href);
    return to === undefined ? words : `[${words}](${to})`;
  });
}

/** `ending` is appended to a page's path. Returns undefined for links to files that only the repository has. Throws if the target does not exist. */
function linkFrom(docs: string, file: string, path: string, others: ReadonlySet<string>): (href: string, ending: string) => string | undefined {
  return (href, ending) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [target = '', anchor] = href.split('#');
    const inside = target.startsWith('/') ? target : GUIDES[posix.normalize(posix.join(posix.dirname(file), target))];
    const known =
      inside !== undefined &&
      (others.has(inside) || Object.values(GUIDES).includes(inside) || ['/console', '/openapi.json', '/llms.txt', '/clients/index.json'].includes(inside));
    if (!known) {
      if (!target.startsWith('/') && existsSync(join(docs, dirname(file), target))) return undefined;
      throw new Error(`docs/${file} links to ${href}, which is nowhere`);
    }
    const page = others.has(inside) || /^\/docs(\/|$)/.test(inside);
    return `${rootFrom(path)}${inside.slice(1)}${page ? ending : ''}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}
