// Operations, events and schemas as Markdown, for programs.
import type { Schema } from './description.ts';
import { typeParts } from './fields.ts';
import { forPrograms } from './layout.ts';
import { propertyRows } from './operations.ts';
import { CREDENTIALS, type AnswerView, type OperationView, type Row, type WebhookView } from './views.ts';

export function operationMarkdown({ summary, verb, path, description, credential, parameters, body, answers, samples }: OperationView): string {
  return [
    `## ${summary}`,
    '',
    `\`${verb} ${path}\``,
    '',
    description,
    '',
    `Credential: ${CREDENTIALS[credential]}.`,
    '',
    ...rowsOf('Parameters', parameters),
    ...(body === undefined ? [] : [...rowsOf('Body', body.rows, body.description), ...fenced('json', JSON.stringify(body.example, null, 2))]),
    ...samples.slice(0, 1).flatMap(({ language, code }) => fenced(language, code)),
    ...answersOf(answers.filter(({ status }) => Number(status) < 400)),
    `Errors: ${answers.flatMap(({ status }) => (Number(status) < 400 ? [] : [`\`${status}\``])).join(', ')}. [What each means](${forPrograms('../../docs/errors.md')}) is described once.`,
    '',
  ].join('\n');
}

export function webhookMarkdown({ type, description, headers, body, example, answers }: WebhookView): string {
  return [
    `## ${type}`,
    '',
    description,
    '',
    ...rowsOf('Headers', headers),
    ...rowsOf('Body', body),
    ...fenced('json', JSON.stringify(example, null, 2)),
    ...answersOf(answers),
  ].join('\n');
}

export function schemaMarkdown(name: string, schema: Schema): string {
  const rows = propertyRows(schema, schema['additionalProperties'] === false);
  return [`### ${name}`, '', schema.description ?? '', '', ...(rows.length > 0 ? [...rows.map(item), ''] : [])].join('\n');
}

function rowsOf(title: string, rows: readonly Row[], about = ''): string[] {
  return rows.length === 0 ? [] : [`### ${title}`, '', ...(about === '' ? [] : [about, '']), ...rows.map(item), ''];
}

function item({ name, schema, description, note }: Row): string {
  const type = typeParts(schema)
    .map((part) => (typeof part === 'string' ? part : part.name))
    .join('');
  return `- \`${name}\` (${[type, note].filter(Boolean).join('; ')}): ${description.replaceAll('\n', '\n  ')}`;
}

/** The successful answer in full, and only the meaning of the errors. */
function answersOf(answers: readonly AnswerView[]): string[] {
  return [
    '### Answers',
    '',
    ...answers.flatMap(({ status, description, example, error }) => [
      `- \`${status}\`: ${description}`,
      ...(example === undefined || error !== undefined ? [] : ['', ...fenced('json', JSON.stringify(example, null, 2))]),
    ]),
    '',
  ];
}

function fenced(language: string, code: string): string[] {
  return [`\`\`\`${language}`, code, '```', ''];
}
