// JSON Schemas (OpenAPI 3.1) of the contract's shapes, with one component for each named record or part.
import {
  camelCase,
  changeKinds,
  eventTypesOf,
  exampleOf,
  exampleRecord,
  goingText,
  publicText,
  type EnumShape,
  type Field,
  type KeyStyle,
  type Shape,
} from '@truckroll/contract';

/** A JSON Schema or another object of the description. The gateway reads the named keys back. */
export interface Schema {
  [key: string]: unknown;
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  summary?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  examples?: unknown[];
}

const STRINGS: Readonly<Record<string, Schema>> = {
  time_zone: {},
  phone: { pattern: '^\\+[1-9]\\d{1,14}$' },
  email: { format: 'email' },
  color: { pattern: '^#[0-9A-Fa-f]{6}$' },
  currency: { enum: ['USD'] },
  revision: { pattern: '^[0-9a-f]{64}$' },
  url: { format: 'uri' },
  json_pointer: { format: 'json-pointer' },
  one_line: { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$' },
  idempotency_key: { pattern: '^[A-Za-z0-9_-]+$' },
  change_kind: { enum: changeKinds.map(({ kind }) => kind) },
  event_type: { enum: eventTypesOf.event_type.map(({ type }) => type) },
};
type Use = 'answer' | 'body';

const MOST_CENTS = Number.MAX_SAFE_INTEGER;

export class Components {
  readonly schemas: Record<string, Schema> = {};
  readonly #names = new Map<string, string>();
  readonly #records: ReadonlySet<Shape>;

  /** Shapes in `records` get a complete example each. */
  constructor(records: ReadonlySet<Shape>) {
    this.#records = records;
  }

  /**
   * A reference to the schema of a shape; adds the schema if it is new. In an answer every key is required. In a body, nullable fields and
   * fields with a default are optional, and unknown keys are not allowed.
   */
  object(shape: Shape, keys: KeyStyle, use: Use = 'answer'): Schema {
    const known = `${use} ${keys} ${shape.typeName}`;
    let name = this.#names.get(known);
    if (name === undefined) {
      name = this.#newName(shape.typeName);
      this.#names.set(known, name);
      this.schemas[name] = {};
      this.schemas[name] = this.#objectSchema(shape, keys, use);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema of a field's value, including null and lists. */
  field(field: Field, keys: KeyStyle, use: Use = 'answer'): Schema {
    const { doc, range, deprecation } = field;
    const text = [...(doc === '' ? [] : [publicText(doc)]), ...goingText(field)].join(' ');
    const described = { ...(text === '' ? {} : { description: text }), ...(deprecation && { deprecated: true }), ...(field.derived ? { readOnly: true } : {}) };
    const wrapped = field.kind === 'list' ? (field.shape as Shape).fields[0] : undefined;
    if (field.repeated || wrapped !== undefined) {
      const items = this.#value(wrapped ?? field, keys, use);
      const bounds = { ...bound('minItems', range?.minItems), ...bound('maxItems', range?.maxItems) };
      return { type: field.nullable ? ['array', 'null'] : 'array', ...described, items, ...bounds };
    }
    const value = this.#value(field, keys, use);
    if ('$ref' in value) return field.nullable ? { ...described, anyOf: [value, { type: 'null' }] } : { ...described, ...value };
    return { ...(field.nullable ? orNull(value) : value), ...described, examples: [exampleOf(field, keys)] };
  }

  #value(field: Field, keys: KeyStyle, use: Use): Schema {
    if (field.shape !== undefined) return this.object(field.shape, keys, use);
    if (field.format === 'subscription') return this.#subscription();
    return field.enum === undefined ? scalar(field) : this.#enumeration(field.enum);
  }

  #enumeration(shape: EnumShape): Schema {
    let name = this.#names.get(shape.typeName);
    if (name === undefined) {
      name = this.#newName(shape.typeName);
      this.#names.set(shape.typeName, name);
      const meanings = [...shape.docs].map(([value, doc]) => `- \`${value}\`: ${publicText(doc)}`);
      this.schemas[name] = { type: 'string', description: [publicText(shape.doc), '', ...meanings].join('\n'), enum: [...shape.docs.keys()] };
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #subscription(): Schema {
    const meanings = eventTypesOf.subscription.map(({ type, body }) => `- \`${type}\`: ${publicText(body.doc)}`);
    const description = ['Types of event that endpoints can subscribe to.', '', ...meanings].join('\n');
    this.schemas['EventType'] ??= { type: 'string', description, enum: eventTypesOf.subscription.map(({ type }) => type) };
    return { $ref: '#/components/schemas/EventType' };
  }

  /** The message's name, prefixed with its package's name if another package has a message of the same name. */
  #newName(typeName: string): string {
    const parts = typeName.split('.');
    const own = parts.at(-1) as string;
    if (this.schemas[own] === undefined) return own;
    const owner = parts[1] as string;
    return owner.charAt(0).toUpperCase() + owner.slice(1) + own;
  }

  #objectSchema(shape: Shape, keys: KeyStyle, use: Use): Schema {
    const spelledOf = ({ name }: Field): string => spelled(name, keys);
    return {
      type: 'object',
      ...(shape.doc === '' ? {} : { description: publicText(shape.doc) }),
      required: shape.fields.filter((field) => use === 'answer' || !(field.nullable || field.dispensable)).map(spelledOf),
      properties: Object.fromEntries(shape.fields.map((field) => [spelledOf(field), this.field(field, keys, use)])),
      ...(use === 'body' ? { additionalProperties: false } : {}),
      ...(this.#records.has(shape) ? { examples: [exampleRecord(shape, keys)] } : {}),
    };
  }
}

export function spelled(name: string, keys: KeyStyle): string {
  return keys === 'camel' ? camelCase(name) : name;
}

/** The schema of a value that is neither an enum nor an object. */
export function scalar({ kind, format, range }: Field): Schema {
  switch (kind) {
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'date':
    case 'local_date':
      return { type: 'string', format: 'date' };
    case 'timestamp':
      return { type: 'string', format: 'date-time' };
    case 'cents':
      return { type: 'integer', format: 'int64', minimum: range?.min ?? -MOST_CENTS, maximum: range?.max ?? MOST_CENTS };
    case 'integer':
      return { type: 'integer', ...bound('minimum', range?.min), ...bound('maximum', range?.max) };
    case 'number': {
      const bounds = { ...bound('minimum', range?.min), ...bound('maximum', range?.max), ...bound('exclusiveMinimum', range?.above) };
      return { type: 'number', ...bounds };
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'cursor':
      return { type: 'string' };
    case 'json':
      return { type: 'object', additionalProperties: true };
    case 'string':
      return { type: 'string', ...STRINGS[format ?? ''], ...bound('minLength', range?.minLength), ...bound('maxLength', range?.maxLength) };
    default:
      throw new Error(`${kind} is not a scalar`);
  }
}

function orNull(schema: Schema): Schema {
  const { enum: values, ...rest } = schema;
  return { ...rest, type: [schema.type as string, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

function bound(name: string, value: number | undefined): Schema {
  return value === undefined ? {} : { [name]: value };
}
