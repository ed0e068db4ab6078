// The page of errors, which every operation links to: with an example of each status, which check:docs provokes.
import { jsonBlock } from './code.ts';
import { html } from './html.ts';
import type { SitePage } from './layout.ts';
import { heading } from './markdown.ts';
import type { AnswerView, OperationView } from './views.ts';

/** Where operations link to. */
export const ERRORS = '/docs/errors';
const TITLE = 'Examples';

/** The guide with its examples: of each status, that of the first operation that has one. */
export function errorsPage(page: SitePage, operations: readonly OperationView[]): SitePage {
  const examples = new Map<string, AnswerView>();
  for (const operation of operations) {
    for (const answer of operation.answers) if (answer.error !== undefined && !examples.has(answer.status)) examples.set(answer.status, answer);
  }
  const shown = [...examples.values()].toSorted((a, b) => Number(a.status) - Number(b.status));
  const wordsOf = ({ description }: AnswerView): string => description.replaceAll('`', '');
  return {
    ...page,
    headings: [...page.headings, { id: 'examples', text: TITLE, level: 2 }, ...shown.map(({ status }) => ({ id: `error-${status}`, text: status, level: 3 }))],
    body: html`${page.body}
${heading(2, 'examples', TITLE)}
${shown.map((each) => html`${heading(3, `error-${each.status}`, each.status)}<p>${wordsOf(each)}</p>${jsonBlock(each.example)}`)}`,
    markdown: [
      page.markdown,
      `## ${TITLE}`,
      '',
      ...shown.flatMap((each) => [`### ${each.status}`, '', each.description, '', '```json', JSON.stringify(each.example, null, 2), '```', '']),
    ].join('\n'),
  };
}
