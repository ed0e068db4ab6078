/** HTML that needs no more escaping. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template whose values are escaped unless they are Html already. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(strings.reduce((text, string, index) => text + render(values[index - 1]) + string));
}

function render(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The little Markdown that our own texts use: headings, lists, paragraphs, code. */
export function markdown(text: string, headingLevel = 2): Html {
  const blocks = text.trim().split(/\n{2,}/).map((block) => {
    const heading = /^## (.*)$/.exec(block);
    if (heading) {
      const title = heading[1] as string;
      return new Html(`<h${headingLevel} id="${slug(title)}">${inline(title).text}</h${headingLevel}>`);
    }
    if (block.startsWith('- ')) {
      return html`<ul>${block.split(/\n(?=- )/).map((item) => html`<li>${inline(item.slice(2))}</li>`)}</ul>`;
    }
    return html`<p>${inline(block)}</p>`;
  });
  return html`${blocks}`;
}

function inline(text: string): Html {
  const parts = text.replace(/\s*\n\s*/g, ' ').split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

export function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}
