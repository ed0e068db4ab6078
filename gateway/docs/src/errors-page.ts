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
  const examples = new Map<string, { answer: AnswerView; operation: OperationView }>();
  for (const operation of operations) {
    for (const answer of operation.answers) if (answer.error !== undefined && !examples.has(answer.status)) examples.set(answer.status, { answer, operation });
  }
  const shown = [...examples.values()].toSorted((a, b) => Number(a.answer.status) - Number(b.answer.status));
  const wordsOf = ({ answer: { description } }: (typeof shown)[number]): string => description.replaceAll('`', '');
  return {
    ...page,
    headings: [
      ...page.headings,
      { id: 'examples', text: TITLE, level: 2 },
      ...shown.map(({ answer: { status } }) => ({ id: `error-${status}`, text: status, level: 3 })),
    ],
    body: html`${page.body}
${heading(2, 'examples', TITLE)}
${shown.map((each) => html`${heading(3, `error-${each.answer.status}`, each.answer.status)}<p>${wordsOf(each)}</p>${jsonBlock(each.answer.example)}`)}`,
    markdown: [
      page.markdown,
      `## ${TITLE}`,
      '',
      ...shown.flatMap((each) => [
        `### ${each.answer.status}`,
        '',
        each.answer.description,
        '',
        '```json',
        JSON.stringify(each.answer.example, null, 2),
        '```',
        '',
      ]),
    ].join('\n'),
  };
}
