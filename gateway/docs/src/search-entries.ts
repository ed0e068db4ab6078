// The search index: every page, and every heading with all of the text below it.
import type { Entry } from '../browser/index.ts';
import type { SitePage } from './layout.ts';
import { plainText } from './markdown.ts';

export function searchEntries(pages: readonly SitePage[]): Entry[] {
  return pages.flatMap((page) => {
    const { path, title, headings, markdown, description } = page;
    const at = path.slice(1);
    // Markdown headings have no ids, so sections are found by title.
    const parts = new Map(
      markdown
        .split(/^#{2,6} /m)
        .slice(1)
        .map((part) => [part.split('\n')[0]?.replaceAll('`', '') ?? '', part.slice(part.indexOf('\n') + 1)]),
    );
    const below = headings.map(({ id, text }) => ({ id: `${at}#${id}`, title: text, page: title, text: plainText(parts.get(text) ?? '') }));
    return [{ id: at, title, page: title, text: description }, ...below];
  });
}
