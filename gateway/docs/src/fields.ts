// Schemas in readable form.
import { jsonBlock } from './code.ts';
import type { Schema } from './description.ts';
import { html, type Html } from './html.ts';
import { heading, markdown } from './markdown.ts';
import { propertyRows } from './operations.ts';
import type { Row } from './views.ts';

/** The link to the description of a schema; undefined if there is none. */
export type SchemaLink = (name: string) => string | undefined;

/** A type in parts: words, and names of schemas. HTML and Markdown pages link the names in different ways. */
export type TypePart = string | { name: string };

/** `string (uuid) or null`. */
export function typeParts(schema: Schema): TypePart[] {
  const ref = schema.$ref;
  if (ref !== undefined) return [{ name: ref.split('/').at(-1) as string }];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap((choice, index) => [...(index > 0 ? [' or '] : []), ...typeParts(choice)]);
  const types = [schema.type].flat().map(String);
  const { items } = schema;
  const format = schema.format === undefined || schema.format === 'int64' ? '' : ` (${schema.format})`;
  const named = types.flatMap((type, index): TypePart[] => [
    ...(index > 0 ? [' or '] : []),
    ...(type === 'array' && items !== undefined ? ['array of ', ...typeParts(items)] : [type]),
    ...(index === 0 ? [format] : []),
  ]);
  return [...named, bounds(schema)];
}

/** The bounds of cents are the same for every amount and are given once, in the first guide. */
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
  const values = schema.enum
    ?.filter((value) => value !== null)
    .map(String)
    .join(', ');
  return `${values === undefined ? '' : `: ${values}`}${parts.map((part) => `, ${part}`).join('')}`;
}

export function typeText(schema: Schema, link: SchemaLink): Html {
  return html`${typeParts(schema).map((part) => {
    if (typeof part === 'string') return part;
    const to = link(part.name);
    return to === undefined ? part.name : html`<a href="${to}">${part.name}</a>`;
  })}`;
}

export function fieldList(rows: readonly Row[], link: SchemaLink): Html {
  return html`<dl class="fields">${rows.map(
    ({ name, schema, description, note }) =>
      html`<div><dt><code>${name}</code>${note && html` <span class="note ${note.includes('required') ? 'required' : ''}">${note}</span>`}</dt><dd>${markdown(description)}<span class="type">${typeText(schema, link)}</span></dd></div>`,
  )}</dl>`;
}

export function namedSchema(name: string, schema: Schema, link: SchemaLink, withExample = true): Html {
  const example = withExample ? schema.examples?.[0] : undefined;
  return html`<section>
${heading(3, `schema-${name}`, name)}
${markdown(schema.description ?? '')}
${schema.properties !== undefined && fieldList(propertyRows(schema, schema['additionalProperties'] === false), link)}
${schema.properties !== undefined && example !== undefined && html`<details><summary>Example</summary>${jsonBlock(example)}</details>`}
</section>`;
}
