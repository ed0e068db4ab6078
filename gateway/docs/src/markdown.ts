// Renders trusted Markdown as HTML: the guides and the texts of the description.
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from './code.ts';
import { Html, escape, html, slug } from './html.ts';

export interface Heading {
  id: string;
  text: string;
  level: number;
}

export interface Rendered {
  body: Html;
  /** In page order; ids are unique within the page. */
  headings: Heading[];
}

export interface MarkdownOptions {
  /** Added to the level of each heading. */
  deeper?: number;
  /** Maps a link's target; undefined keeps only the words. */
  link?: (href: string) => string | undefined;
}

/** Renders a text. HTML in it is shown as text. */
export function renderMarkdown(text: string, { deeper = 0, link = sameLink }: MarkdownOptions = {}): Rendered {
  const headings: Heading[] = [];
  const used = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text: markup }: Tokens.HTML | Tokens.Tag) => escape(markup),
      code: ({ text: code, lang }: Tokens.Code) => codeBlock(code, (lang ?? '').split(' ')[0] || 'text').text,
      heading({ tokens, depth, text: written }: Tokens.Heading) {
        const level = Math.min(6, depth + deeper);
        const plain = written.replaceAll('`', '');
        const id = unique(slug(plain), used);
        headings.push({ id, text: plain, level });
        return heading(level, id, plain, new Html(this.parser.parseInline(tokens))).text;
      },
      link({ href, tokens }: Tokens.Link) {
        const [to, words] = [link(href), new Html(this.parser.parseInline(tokens))];
        return (to === undefined ? words : html`<a href="${to}">${words}</a>`).text;
      },
      image: ({ text: alternative }: Tokens.Image) => escape(alternative),
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) => row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
        return `<div class="table" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>`;
      },
    },
  });
  return { body: new Html(marked.parse(text, { async: false })), headings };
}

/** Rendered texts of the description, by source, because many are repeated. */
const rendered = new Map<string, Html>();

/** Renders a text of the description. Its headings have no links. */
export function markdown(text: string): Html {
  let body = rendered.get(text);
  if (body === undefined) rendered.set(text, (body = renderMarkdown(text).body));
  return body;
}

/** A heading with a link to itself. `plain` is its text without markup. */
export function heading(level: number, id: string, plain: string, content: Html | string = plain): Html {
  return html`${new Html(`<h${level} id="${id}">`)}${content} <a class="anchor" href="#${id}" aria-label="Link to “${plain}”">#</a>${new Html(`</h${level}>`)}`;
}

/** The words of paragraphs, lists and tables, for the search. */
export function plainText(text: string): string {
  return words(new Marked({ gfm: true }).lexer(text))
    .replace(/\s+/g, ' ')
    .trim();
}

export function firstSentence(text: string): string {
  const plain = plainText(text);
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

function words(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'code' || token.type === 'space') return ' ';
      if (token.type === 'table')
        return [...(token as Tokens.Table).header, ...(token as Tokens.Table).rows.flat()].map((cell) => words(cell.tokens)).join(' ');
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => words(item.tokens)).join(' ');
      const inner = (token as { tokens?: Token[] }).tokens;
      return inner === undefined
        ? String((token as { text?: string }).text ?? '')
        : `${words(inner)}${token.type === 'paragraph' || token.type === 'heading' ? ' ' : ''}`;
    })
    .join('');
}

function unique(id: string, used: Map<string, number>): string {
  const times = used.get(id) ?? 0;
  used.set(id, times + 1);
  return times === 0 ? id : `${id}-${times + 1}`;
}

function sameLink(href: string): string {
  return href;
}
