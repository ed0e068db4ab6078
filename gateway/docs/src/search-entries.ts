// The search index: every page, and every heading with the text below it.
import type { SitePage } from './layout.ts';
import { plainText } from './markdown.ts';

export interface SearchEntry {
  /** Path from the root, such as `docs/sync#overlap`. */
  id: string;
  title: string;
  page: string;
  text: string;
}

const MOST_WORDS = 120;

export function searchEntries(pages: readonly SitePage[]): SearchEntry[] {
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
    const below = headings.map(({ id, text }) => ({ id: `${at}#${id}`, title: text, page: title, text: short(plainText(parts.get(text) ?? '')) }));
    return [{ id: at, title, page: title, text: short(description) }, ...below];
  });
}

function short(text: string): string {
  return text.split(' ').slice(0, MOST_WORDS).join(' ');
}
