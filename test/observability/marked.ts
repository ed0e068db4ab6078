/** Replaces the text between the marks `<!-- NAME: … -->` and `<!-- /NAME -->` of a page. Throws when the page has no such marks. */
export function withMarked(page: string, name: string, text: string): string {
  const begin = `<!-- ${name}: written by \`npm run observability\` -->`;
  const [start, end] = [page.indexOf(begin), page.indexOf(`<!-- /${name} -->`)];
  if (start < 0 || end < start) throw new Error(`a page of docs/ lacks ${begin} … <!-- /${name} -->`);
  return `${page.slice(0, start + begin.length)}\n${text}\n${page.slice(end)}`;
}
