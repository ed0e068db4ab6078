// Schemas as people read them.
import { html, markdown, type Html } from './html.ts';
import type { Schema } from './schemas.ts';

/** `string (uuid) or null`, with links to what has a name. */
export function typeText(schema: Schema): Html {
  const ref = schema.$ref;
  if (ref !== undefined) {
    const name = ref.split('/').at(-1) as string;
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf;
  if (choices !== undefined) return html`${choices.map((choice, index) => [index > 0 ? ' or ' : '', typeText(choice)])}`;
  const types = [schema.type].flat().map(String);
  const items = schema.items;
  const names = types.map((type) => (type === 'array' && items !== undefined ? html`array of ${typeText(items)}` : type));
  const format = schema.format === undefined || schema.format === 'int64' ? '' : ` (${schema.format})`;
  return html`${names.map((name, index) => [index > 0 ? ' or ' : '', name, index === 0 ? format : ''])}${bounds(schema)}`;
}

/** The bounds of cents are those of every amount: they are said once, in the overview. */
function bounds(schema: Schema): string {
  if (schema.format === 'int64') return '';
  const words: Record<string, (value: unknown) => string> = {
    minimum: (value) => `from ${Number(value).toLocaleString('en-US')}`,
    exclusiveMinimum: (value) => `greater than ${String(value)}`,
    maximum: (value) => `to ${Number(value).toLocaleString('en-US')}`,
    minLength: (value) => `at least ${String(value)} characters`,
    maxLength: (value) => `at most ${String(value)} characters`,
    maxItems: (value) => `at most ${String(value)}`,
    pattern: (value) => `matching ${String(value)}`,
    const: (value) => `always ${String(value)}`,
    default: (value) => `default ${String(value)}`,
  };
  const parts = Object.entries(words).flatMap(([key, say]) => (schema[key] === undefined ? [] : [say(schema[key])]));
  const values = schema.enum?.filter((value) => value !== null).map(String).join(', ');
  return [...(values === undefined ? [] : [`: ${values}`]), ...parts].map((part) => (part.startsWith(':') ? part : `, ${part}`)).join('');
}

export interface Row {
  name: string;
  schema: Schema;
  description: string;
  note?: string;
}

export function fieldList(rows: readonly Row[]): Html {
  return html`<dl class="fields">${rows.map(
    ({ name, schema, description, note }) =>
      html`<div><dt><code>${name}</code>${note && html` <span class="type">${note}</span>`}</dt><dd>${markdown(description)}<span class="type">${typeText(schema)}</span></dd></div>`,
  )}</dl>`;
}

export function propertyRows(schema: Schema): Row[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    description: property.description ?? '',
    ...(property.readOnly === true ? { note: 'derived' } : {}),
  }));
}

/** A named schema with its anchor. */
export function namedSchema(name: string, schema: Schema): Html {
  const example = schema.examples?.[0];
  return html`<section aria-labelledby="schema-${name}">
<h3 id="schema-${name}">${name}</h3>
${markdown(schema.description ?? '')}
${schema.properties !== undefined && fieldList(propertyRows(schema))}
${example !== undefined && html`<details><summary>Example</summary><pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre></details>`}
</section>`;
}
