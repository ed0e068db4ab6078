// Complete examples of bodies, assembled from the description's examples.
import { resolve, type Body, type Description, type Schema } from './description.ts';

/** Examples of values that have none in the description, such as those in lists. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'cfa0db39-7068-4ec5-8c11-54e6103ff639',
  date: '2026-03-02',
  'date-time': '2026-03-02T15:04:05.123456Z',
  uri: 'https://example.com/',
};

/** A value that the schema allows: its example, or one assembled from the examples of its parts. */
export function exampleOf(schema: Schema, description: Description): unknown {
  const [given] = schema.examples ?? [];
  if (given !== undefined) return given;
  if (schema.const !== undefined) return schema.const;
  if (schema.$ref !== undefined) return exampleOf(resolve(schema, description), description);
  const [choice] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (choice !== undefined) return exampleOf(choice, description);
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, description)));
  if (schema.properties !== undefined) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, exampleOf(property, description)]));
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, description)];
  if (schema.default !== undefined) return schema.default;
  const [value] = schema.enum ?? [];
  if (value !== undefined) return value;
  const ofFormat = schema.format === undefined ? undefined : FORMATS[schema.format];
  if (ofFormat !== undefined) return ofFormat;
  const [type] = [schema.type].flat();
  return { integer: 1, number: 1, boolean: true, object: {}, array: [] }[type ?? ''] ?? 'text';
}

/** A request's body: the description's example, or one with only the required fields. */
export function bodyExample({ content }: Body, description: Description): unknown {
  const media = content['application/json'];
  if (media === undefined) throw new Error('a body that is not JSON has no example');
  const [whole] = Object.values(media.examples ?? {});
  if (whole !== undefined) return whole.value;
  if (media.example !== undefined) return media.example;
  const schema = resolve(media.schema, description);
  const example = exampleOf(schema, description) as Record<string, unknown>;
  if (schema.examples !== undefined) return example;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = required.length > 0 ? required : Object.keys(example).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, example[name]]));
}
