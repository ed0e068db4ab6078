// Builds a page for each group of operations, with the schemas that only this group uses, and one page for shared schemas.
import { namesWithin, schemaName, type Description, type Operation } from './description.ts';
import { namedSchema } from './fields.ts';
import { html, slug, type Html } from './html.ts';
import { rootFrom, type SitePage } from './layout.ts';
import { firstSentence, heading, markdown, type Heading } from './markdown.ts';
import { operationSection, webhookSection } from './operation-html.ts';
import { operationMarkdown, schemaMarkdown, webhookMarkdown } from './operation-markdown.ts';
import { operationView, webhookView } from './operations.ts';
import type { OperationView, WebhookView } from './views.ts';

interface Group {
  name: string;
  description: string;
  path: string;
  title: string;
  operations: OperationView[];
  webhooks: WebhookView[];
  schemas: string[];
}

const SHARED = { path: '/docs/reference/shared', name: 'Shared schemas', description: 'What several records and answers are made of.' };

export interface Reference {
  pages: SitePage[];
  operations: OperationView[];
}

export function referenceOf(description: Description): Reference {
  const called = Object.entries(description.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })));
  const sent = Object.values(description.webhooks).map(({ post }) => post);
  const usersOf = new Map<string, Set<string>>();
  const envelopes = new Set(called.flatMap(({ operation }) => answerNames(operation)));
  for (const operation of [...called.map((each) => each.operation), ...sent]) {
    for (const name of namesWithin(operation, description)) {
      if (!envelopes.has(name)) usersOf.set(name, (usersOf.get(name) ?? new Set()).add(tagOf(operation)));
    }
  }
  // Every operation refers to the error responses, so all groups use their schemas.
  for (const name of namesWithin(description.components['responses'], description)) usersOf.set(name, new Set(description.tags.map((tag) => tag.name)));

  const groups = description.tags.map(
    (tag): Group => ({
      name: tag.name,
      description: tag.description,
      path: `/docs/reference/${slug(tag.name)}`,
      title: tag.name,
      operations: called
        .filter(({ operation }) => tagOf(operation) === tag.name)
        .map(({ path, verb, operation }) => operationView(path, verb, operation, description)),
      webhooks: sent.filter((operation) => tagOf(operation) === tag.name).map((operation) => webhookView(operation, description)),
      schemas: [...usersOf].filter(([, users]) => users.size === 1 && users.has(tag.name)).map(([name]) => name),
    }),
  );
  const shared: Group = {
    ...SHARED,
    title: SHARED.name,
    operations: [],
    webhooks: [],
    schemas: [...usersOf]
      .filter(([, users]) => users.size > 1)
      .map(([name]) => name)
      .sort(),
  };
  const placeOf = new Map([...groups, shared].flatMap(({ path, schemas }) => schemas.map((name) => [name, path] as const)));
  const ordered = [...groups, shared].toSorted((a, b) => ORDER.indexOf(kindOf(a)) - ORDER.indexOf(kindOf(b)));
  return { pages: ordered.map((group) => pageOf(group, placeOf, description)), operations: groups.flatMap(({ operations }) => operations) };
}

const ORDER = ['Records', 'Integrations', 'Schemas'];

function kindOf({ operations, webhooks }: Group): string {
  if (operations.length + webhooks.length === 0) return 'Schemas';
  return operations.some(({ path }) => path.startsWith('/v1/')) ? 'Records' : 'Integrations';
}

function pageOf(group: Group, placeOf: ReadonlyMap<string, string>, description: Description): SitePage {
  const { name, path, operations, webhooks, schemas } = group;
  const root = rootFrom(path);
  const link = (schema: string): string | undefined => {
    const place = placeOf.get(schema);
    if (place === undefined) return undefined;
    return `${place === path ? '' : `${root}${place.slice(1)}`}#schema-${schema}`;
  };
  const components = description.components['schemas'] ?? {};
  // The first answer with a record describes its fields.
  const shownBy = new Map<string, Html>();
  const beside = new Set<string>();
  for (const { id, record } of operations) {
    if (record === undefined || beside.has(record) || !schemas.includes(record)) continue;
    beside.add(record);
    shownBy.set(id, namedSchema(record, components[record] ?? {}, link, false));
  }
  const others = schemas.filter((each) => !beside.has(each));
  const headings: Heading[] = [
    ...operations.map(({ id, summary }) => ({ id, text: summary, level: 2 })),
    ...webhooks.map(({ id, type }) => ({ id, text: type, level: 2 })),
    ...(others.length > 0 ? [{ id: 'schemas', text: 'Schemas', level: 2 }] : []),
    ...schemas.map((each) => ({ id: `schema-${each}`, text: each, level: 3 })),
  ];
  return {
    path,
    title: group.title,
    group: kindOf(group),
    headings,
    wide: true,
    description: firstSentence(group.description),
    body: html`${markdown(group.description)}
${operations.map((operation) => operationSection(operation, link, root, shownBy.get(operation.id)))}
${webhooks.map((webhook) => webhookSection(webhook, link))}
${others.length > 0 && html`${heading(2, 'schemas', 'Schemas')}${others.map((each) => namedSchema(each, components[each] ?? {}, link))}`}`,
    markdown: [
      `# ${name}`,
      '',
      group.description,
      '',
      ...operations.map(operationMarkdown),
      ...webhooks.map(webhookMarkdown),
      ...(schemas.length > 0 ? ['## Schemas', '', ...schemas.map((each) => schemaMarkdown(each, components[each] ?? {}))] : []),
    ].join('\n'),
  };
}

/** The names of the answer envelopes, which pages show as examples instead of as schemas. */
function answerNames({ responses }: Operation): string[] {
  return Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}).flatMap(({ schema }) => schemaName(schema) ?? []));
}

function tagOf({ tags }: Operation): string {
  return tags[0] as string;
}
