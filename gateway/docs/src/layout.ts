// The frame of every page: position, navigation and search.
import { html, type Html } from './html.ts';
import type { Heading } from './markdown.ts';

export interface SitePage {
  /** `/docs/sync`. */
  path: string;
  title: string;
  /** The heading under which the navigation lists the page. */
  group: string;
  description: string;
  body: Html;
  headings: readonly Heading[];
  markdown: string;
  /** Whether the text needs the whole width, so that the page's contents stand in the menu. */
  wide?: true;
}

/** The relative link from a path to the root. Pages have no absolute links, because a proxy may add a path prefix. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2);
}

/** A link in a text for programs, which the gateway makes absolute where it knows its address: programs may have lost that of the text. */
export function forPrograms(link: string): string;
export function forPrograms(link: string | undefined): string | undefined;
export function forPrograms(link: string | undefined): string | undefined {
  return link === undefined || /^(https?:|#)/.test(link) ? link : link.replace(/^(\.\.\/)*/, (up) => `{{at:${up}}}`);
}

/** `root` is the gateway's root as seen from the page. */
export function layout(page: SitePage, pages: readonly SitePage[], root = rootFrom(page.path)): Html {
  const at = pages.indexOf(page);
  const [before, after] = at < 0 ? [undefined, undefined] : [pages[at - 1], pages[at + 1]];
  const contents = contentsOf(page);
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">
<title>${page.title} · Truckroll</title>
<link rel="icon" href="${root}console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}docs/docs.css">
${at >= 0 && html`<link rel="alternate" type="text/markdown" href="${root}${page.path.slice(1)}.md">`}
<script type="module" src="${root}docs/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><div class="across">
<a class="brand" href="${root}docs"><img src="${root}console/icon.svg" alt="" width="24" height="24"> Truckroll</a>
<search id="search" data-index="${root}docs/search.json" data-root="${root}" hidden></search>
<a class="wide-only" href="${root}console">Console</a>
<a class="wide-only" href="${root}openapi.json">openapi.json</a>
<a class="wide-only" href="${root}llms.txt">/llms.txt</a>
<button class="menu-button" type="button" popovertarget="menu">Menu</button>
</div></header>
<div class="columns${page.wide ? ' wide' : ''}">
<main id="content" tabindex="-1">
<h1>${page.title}</h1>
${page.body}
<p class="around">${before && html`<a rel="prev" href="${root}${before.path.slice(1)}">‹ ${before.title}</a>`}${after && html`<a rel="next" href="${root}${after.path.slice(1)}">${after.title} ›</a>`}</p>
</main>
<nav id="menu" popover aria-label="Documentation">${navigation(page, pages, root)}</nav>
${!page.wide && contents && html`<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}
</div>
</body>
</html>
`;
}

/** Undefined for a page that needs none. */
function contentsOf({ headings }: SitePage): Html | undefined {
  const sections = headings.filter(({ level }) => level === 2);
  return sections.length > 1 ? html`<ul>${sections.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>` : undefined;
}

function navigation(page: SitePage, pages: readonly SitePage[], root: string): Html {
  const groups = Map.groupBy(pages, ({ group }) => group);
  return html`${[...groups].map(
    ([group, members]) =>
      html`<p>${group}</p><ul>${members.map((each) => html`<li><a href="${root}${each.path.slice(1)}"${each === page && html` aria-current="page"`}>${each.title}</a>${each === page && page.wide && inMenu(page)}</li>`)}</ul>`,
  )}`;
}

function inMenu(page: SitePage): Html | undefined {
  const contents = contentsOf(page);
  return contents && html`<div class="contents">${contents}</div>`;
}
