// /docs: the description as a page for people, rendered once at start.
import { createHash } from 'node:crypto';
import type { Page } from '../routes/public-pages.ts';
import { docsStyle } from './docs-style.ts';
import { fieldList, namedSchema, propertyRows, typeText, type Row } from './docs-schema.ts';
import type { OpenApiDocument } from './document.ts';
import { Html, html, markdown, slug } from './html.ts';
import type { Schema } from './schemas.ts';

interface DescribedOperation {
  verb: string;
  /** Empty where the request goes to a receiver of webhooks. */
  path: string;
  schema: Schema;
}

/** `changelog` is Markdown under a heading of the first level. */
export function docsPage(document: OpenApiDocument, changelog: string): Page {
  const style = createHash('sha256').update(docsStyle).digest('base64');
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    body: Buffer.from(render(document, changelog).text),
    headers: [
      'Content-Security-Policy', `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'Referrer-Policy', 'no-referrer',
    ],
  };
}

function render(document: OpenApiDocument, changelog: string): Html {
  const { info, tags, paths, webhooks, components } = document;
  const called = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, schema]): DescribedOperation => ({ verb: verb.toUpperCase(), path, schema })),
  );
  const sent = Object.values(webhooks).flatMap(({ post: schema }): DescribedOperation[] => (schema === undefined ? [] : [{ verb: 'POST', path: '', schema }]));
  const described = [...called, ...sent];
  const groups = tags.map((tag) => ({ ...tag, operations: described.filter(({ schema }) => (schema.tags as string[])[0] === tag.name) }));
  const chapters = [...info.description.matchAll(/^## (.*)$/gm)].map((match) => match[1] as string);
  const schemas = Object.entries(components.schemas ?? {});
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<style>${raw(docsStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="page">
<nav aria-label="Contents">
<ul>${chapters.map((title) => html`<li><a href="#${slug(title)}">${title}</a></li>`)}<li><a href="#schemas">Schemas</a></li><li><a href="#changelog">Changelog</a></li><li><a href="/openapi.json">openapi.json</a></li></ul>
${groups.map(
  ({ name, operations }) =>
    html`<details><summary>${name}</summary><ul>${operations.map(({ schema }) => html`<li><a href="#${id(schema)}">${schema.summary}</a></li>`)}</ul></details>`,
)}
</nav>
<main id="content">
<h1>${info.title}</h1>
<p>Version ${info.version}. For machines: <a href="/openapi.json">openapi.json</a>.</p>
${markdown(info.description)}
${groups.map(
  ({ name, description, operations }) =>
    html`<section aria-labelledby="tag-${slug(name)}"><h2 id="tag-${slug(name)}">${name}</h2>${markdown(description)}${operations.map((operation) => describe(operation, components))}</section>`,
)}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => namedSchema(name, schema))}
<h2 id="changelog">Changelog</h2>
${markdown(changelog.replace(/^# .*\n/, ''), 3)}
</main>
</div>
</body>
</html>
`;
}

function describe({ verb, path, schema }: DescribedOperation, components: OpenApiDocument['components']): Html {
  return path === '' ? describeWebhook(schema, components) : describeOperation({ verb, path, schema }, components);
}

function describeOperation({ verb, path, schema }: DescribedOperation, components: OpenApiDocument['components']): Html {
  const parameters = (schema.parameters as Schema[]).map((parameter) => parameterRow(resolve(parameter, components)));
  const responses = Object.entries(schema.responses as Record<string, Schema>);
  const security = (schema.security as Record<string, unknown>[]).flatMap((scheme) => Object.keys(scheme));
  return html`<article aria-labelledby="${id(schema)}">
<h3 id="${id(schema)}">${schema.summary}</h3>
<p><span class="verb${verb === 'GET' ? '' : ' write'}">${verb}</span> <span class="path">${path}</span></p>
${markdown(schema.description ?? '')}
${schema['deprecated'] === true && html`<p><strong>Deprecated.</strong> <a href="#changelog">See the changelog.</a></p>`}
<p>Credential: ${security.map((name) => (name === 'ApiKey' ? 'API key' : 'user token')).join(' or ')}.</p>
<pre tabindex="0"><code>${curl(verb, path, schema.parameters as Schema[])}</code></pre>
${parameters.length > 0 && html`<h4>Parameters</h4>${fieldList(parameters)}`}
<h4>Answers</h4>
<dl class="fields">${responses.map(([status, response]) => answerRow(status, resolve(response, components)))}</dl>
</article>`;
}

function describeWebhook(schema: Schema, components: OpenApiDocument['components']): Html {
  const parameters = (schema.parameters as Schema[]).map((parameter) => parameterRow(resolve(parameter, components)));
  const body = (schema.requestBody as { content: Record<string, { schema: Schema }> }).content['application/json']?.schema as Schema;
  const event = resolve(body, components);
  return html`<article aria-labelledby="${id(schema)}">
<h3 id="${id(schema)}">${schema.summary}</h3>
<p><span class="verb write">POST</span> <span class="path">your endpoint’s URL</span></p>
${markdown(schema.description ?? '')}
<h4>Headers</h4>${fieldList(parameters)}
<h4>Body</h4>${fieldList(propertyRows(event))}
<details><summary>Example</summary><pre tabindex="0"><code>${JSON.stringify(event.examples?.[0], null, 2)}</code></pre></details>
<h4>Your answer</h4>
<dl class="fields">${Object.entries(schema.responses as Record<string, Schema>).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([status, response]) => answerRow(status, response))}</dl>
</article>`;
}

function parameterRow(parameter: Schema): Row {
  const place = parameter.in === 'query' ? [] : [String(parameter.in)];
  const note = [...place, ...(parameter.required === true ? ['required'] : [])].join(', ');
  return {
    name: String(parameter.name),
    schema: parameter.schema as Schema,
    description: parameter.description ?? '',
    ...(note === '' ? {} : { note }),
  };
}

function answerRow(status: string, response: Schema): Html {
  const content = response.content as Record<string, { schema: Schema }> | undefined;
  const schema = content?.['application/json']?.schema;
  return html`<div><dt><code>${status}</code></dt><dd>${markdown(response.description ?? '')}${schema && html`<span class="type">${typeText(schema)}</span>`}</dd></div>`;
}

function curl(verb: string, path: string, parameters: readonly Schema[]): string {
  const option = verb === 'GET' ? '' : ` -X ${verb}`;
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true);
  const query = required.map(({ name, example }) => `${String(name)}=${String(example)}`).join('&');
  return `curl${option} -H "Authorization: Bearer $TRUCKROLL_KEY" "$TRUCKROLL_URL${path}${query === '' ? '' : `?${query}`}"`;
}

function resolve(schema: Schema, components: OpenApiDocument['components']): Schema {
  const ref = schema.$ref;
  if (ref === undefined) return schema;
  const [kind, name] = ref.split('/').slice(-2) as [string, string];
  return components[kind]?.[name] as Schema;
}

function id(operation: Schema): string {
  return String(operation.operationId);
}

/** Our own style sheet: escaping would change it, and with it the hash that the policy names. */
function raw(text: string): Html {
  return new Html(text);
}
