// Realistic example values for API descriptions: the contract's own examples, else values that suit the field's kind.
import { createHash } from 'node:crypto';
import type { Deprecation } from './deprecation.ts';
import { camelCase, type KeyStyle } from './json-plan.ts';
import type { Field, Shape } from './shape.ts';

const BY_FORMAT: Readonly<Record<string, string>> = {
  time_zone: 'America/Chicago',
  phone: '+15125550100',
  any_phone: '(512) 555-0100',
  search: 'whitfield austin',
  email: 'dana@example.com',
  color: '#1F6FEB',
  currency: 'USD',
  url: 'https://example.com/hooks/truckroll',
  idempotency_key: 'b1946ac9-2492-4d26-8c4b-3f7e0a6d1c52',
};

/** Times of fields by the end of their names, so that what ends does so after it began. */
const TIMES: readonly (readonly [RegExp, string])[] = [
  [/_before$/, '2026-04-01T00:00:00Z'],
  [/due_at$/, '2026-04-02T04:59:59Z'],
  [/starts?_at$/, '2026-03-03T15:00:00Z'],
  [/ends?_at$/, '2026-03-03T17:00:00Z'],
  [/created_at$/, '2026-02-27T16:20:31.402118Z'],
];

/** An example value of the field; of one element if the field is repeated. */
export function exampleOf(field: Field, keys: KeyStyle): unknown {
  if (field.example === 'null') return null;
  switch (field.kind) {
    case 'uuid':
      return field.example ?? exampleId(recordName(field));
    case 'string':
      return field.example ?? BY_FORMAT[field.format ?? ''] ?? (field.format === 'revision' ? hex(field.name) : sentence(field.name));
    case 'date':
    case 'local_date':
      return field.example ?? (field.name.endsWith('_before') ? '2026-04-01' : '2026-03-02');
    case 'timestamp':
      return field.example ?? TIMES.find(([names]) => names.test(field.name))?.[1] ?? '2026-03-02T15:04:05.123456Z';
    case 'cents':
      return Number(field.example ?? 12_900);
    case 'integer':
      return Number(field.example ?? Math.max(1, field.range?.min ?? 0));
    case 'number':
      return Number(field.example ?? (field.range?.max === 1 ? 0.0825 : 1));
    case 'boolean':
      return field.example !== 'false';
    case 'enum':
      return field.example ?? field.enum?.names.values().next().value;
    case 'reference':
      return { id: exampleId(recordName(field)), name: sentence(field.name) };
    case 'object':
      // What an event is about is called data.
      return {
        ...exampleRecord(field.shape as Shape, keys, field.name === 'data' ? undefined : singular(field.name)),
        ...(JSON.parse(field.example ?? '{}') as object),
      };
    case 'list':
      return [exampleOf(field.shape?.fields[0] as Field, keys)];
    case 'cursor':
      return field.example;
    case 'json':
      return JSON.parse(field.example ?? '{}');
    case 'bytes':
      throw new Error(`${field.name} is not public`);
  }
}

/**
 * An example value for each field, under the keys of the public JSON. A repeated field has one element. `name` is what its id identifies, so
 * that references to a record have the id that the record has.
 */
export function exampleRecord(shape: Shape, keys: KeyStyle, name = snakeCase(shape)): Record<string, unknown> {
  return Object.fromEntries(
    shape.fields.map((field) => {
      const one = field.name === 'id' && field.example === undefined && field.kind === 'uuid' ? exampleId(name) : exampleOf(field, keys);
      return [keys === 'camel' ? camelCase(field.name) : field.name, field.repeated ? [one] : one];
    }),
  );
}

/** What a field of an id or a reference identifies: `job_type` for `job_type_id`, and for a field that refers to `job-types`. */
function recordName({ refersTo, name }: Field): string {
  return refersTo === undefined ? name.replace(/_id$/, '') : singular(refersTo);
}

/** `job_type` for the message JobType. */
function snakeCase({ typeName }: Shape): string {
  return typeName
    .slice(typeName.lastIndexOf('.') + 1)
    .replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
}

function singular(name: string): string {
  return name.replaceAll('-', '_').replace(/s$/, '');
}

/** Derived from the name, so that examples do not change from run to run. */
export function exampleId(name: string): string {
  const digits = hex(name);
  return [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}

function hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `business_unit` becomes `Business unit`. */
export function sentence(name: string): string {
  const text = name.replace(/[_-]+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Says since when something is deprecated, for a description that is joined from sentences. Empty if it is not. */
export function goingText({ deprecation }: { deprecation?: Deprecation }): string[] {
  return deprecation === undefined ? [] : [`Deprecated since ${deprecation.since}; it may be gone from ${deprecation.sunset} on.`];
}

/** The contract's comment without its references to internal documents. */
export function publicText(doc: string): string {
  return doc.replace(/ \((?:api\.md|decisions)[^)]*\)/g, '');
}
