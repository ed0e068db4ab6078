import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { deprecationOf, type Deprecation } from './deprecation.ts';
import { documentation, option, registry } from './image.ts';

/** Kinds of field. The parser, JSON, SQL and OpenAPI each have one case per kind instead of code per record. */
export type Kind =
  | 'uuid'
  | 'string'
  | 'date'
  | 'local_date'
  | 'timestamp'
  | 'cents'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'enum'
  | 'reference'
  | 'object'
  /** A nullable list of objects, which `repeated` cannot express: a message whose only field is `repeated … values`. */
  | 'list'
  | 'bytes'
  /** A string on the wire, an object of any shape in JSON. */
  | 'json'
  /** A list position as bytes on the wire, sealed by the writer into an opaque cursor in JSON. */
  | 'cursor';

/** Formats of strings; the others are kinds of their own. */
const STRING_FORMATS = [
  'time_zone',
  'phone',
  'email',
  'color',
  'currency',
  'revision',
  'url',
  'idempotency_key',
  'one_line',
  'json_pointer',
  'event_type',
  'subscription',
  'change_kind',
  'search',
  'any_phone',
] as const;
export type StringFormat = (typeof STRING_FORMATS)[number];

export interface Range {
  min?: number;
  max?: number;
  above?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface EnumShape {
  typeName: string;
  doc: string;
  /** Public spelling by number; UNSPECIFIED (0) is not included. */
  names: ReadonlyMap<number, string>;
  docs: ReadonlyMap<string, string>;
  /** Values in generated messages, by public spelling: `INVOICE_STATUS_OPEN` for `OPEN`. */
  generated: ReadonlyMap<string, string>;
  /** The unset value in generated messages: the name of number 0. */
  zero: string;
  /** The inverse of `generated`. */
  spellings: ReadonlyMap<string, string>;
}

export interface Field {
  name: string;
  number: number;
  kind: Kind;
  /** Whether the value may be null in JSON; the key is always present. */
  nullable: boolean;
  repeated: boolean;
  /** Derived by its owner; ignored in input (decisions §10). */
  derived: boolean;
  /** A timestamp too far in the future to represent becomes null. */
  endless: boolean;
  /** Copied from another record, so an import line may omit it; reads always include it. */
  dispensable: boolean;
  format?: StringFormat;
  range?: Range;
  enum?: EnumShape;
  /** Shape of an object, a reference, or a list's wrapper. */
  shape?: Shape;
  /** Public path of the record that an id or Reference points at: `accounts`. */
  refersTo?: string;
  deprecation?: Deprecation;
  /** For a parameter: the default as clients spell it; several values if it is repeated. */
  defaults?: readonly string[];
  /** Whether each distinct element of the list counts as a separate write in the request limit. */
  counts?: true;
  /** Whether null in JSON arrives as the kind's zero value, to clear what is stored; an omitted field arrives as null. */
  nullClears?: true;
  /** For a time: name of the field in the same message that it must be after (checkRanges). */
  after?: string;
  /** For a cursor: name of the operation whose list it points into. */
  cursorOf?: string;
  doc: string;
  example?: string | undefined;
}

export interface Shape {
  typeName: string;
  doc: string;
  /** In order of field number, which is the order of keys in JSON. */
  fields: readonly Field[];
  byName: ReadonlyMap<string, Field>;
}

const REFERENCE = 'truckroll.type.v1.Reference';
/** Names of the option's values by number: `time_zone`. */
const formats = new Map(registry.getEnum('truckroll.options.v1.Format')?.values.map(({ number, localName }) => [number, localName.toLowerCase()]));
const KINDS_BY_FORMAT: Readonly<Record<string, Kind>> = {
  uuid: 'uuid',
  timestamp: 'timestamp',
  expiry: 'timestamp',
  date: 'date',
  local_date: 'local_date',
  cents: 'cents',
  json: 'json',
};
const OPTIONAL = 1;
const OUTPUT_ONLY = 3;

const shapes = new Map<string, Shape>();

/** The shape of a message, cached. */
export function shapeOf(message: DescMessage): Shape {
  const known = shapes.get(message.typeName);
  if (known !== undefined) return known;
  const fields: Field[] = [];
  const byName = new Map<string, Field>();
  const shape: Shape = {
    typeName: message.typeName,
    get doc() {
      return documentation(message).text;
    },
    fields,
    byName,
  };
  shapes.set(message.typeName, shape);
  for (const desc of message.fields) {
    const last = fields.at(-1);
    // Generated code writes fields in the order of declaration, but the JSON writer expects the order of numbers.
    if (last !== undefined && desc.number < last.number) {
      throw new Error(`${message.typeName}: declare ${desc.name} (${desc.number}) before ${last.name} (${last.number}), in the order of numbers`);
    }
    const field = Object.freeze(fieldOf(desc));
    fields.push(field);
    byName.set(field.name, field);
  }
  Object.freeze(fields);
  return Object.freeze(shape);
}

/** The shape of a message by its full name, for messages that no public operation uses. */
export function shapeNamed(typeName: string): Shape {
  const desc = registry.getMessage(typeName);
  if (desc === undefined) throw new Error(`proto/ does not define ${typeName}`);
  return shapeOf(desc);
}

function fieldOf(desc: DescField): Field {
  const format = formats.get(option<number>(desc, 'truckroll.options.v1.format') ?? 0) as string;
  const stringFormat = STRING_FORMATS.find((name) => name === format);
  const range = option<Range>(desc, 'truckroll.options.v1.range');
  const refersTo = option<{ type: string }>(desc, 'google.api.resource_reference')?.type.replace('truckroll/', '');
  const deprecation = deprecationOf(desc);
  const defaults = option<string[]>(desc, 'truckroll.options.v1.default_value');
  const behaviors = option<number[]>(desc, 'google.api.field_behavior') ?? [];
  const cursorOf = option<string>(desc, 'truckroll.options.v1.cursor_of');
  const after = option<string>(desc, 'truckroll.options.v1.after');
  const counts = option<boolean>(desc, 'truckroll.options.v1.counts');
  const nullClears = option<boolean>(desc, 'truckroll.options.v1.null_clears');
  const message = desc.message;
  const enumeration = desc.enum;
  return {
    name: desc.name,
    number: desc.number,
    kind: cursorOf === undefined ? kindOf(desc, format) : 'cursor',
    nullable: desc.proto.proto3Optional,
    repeated: desc.fieldKind === 'list',
    derived: behaviors.includes(OUTPUT_ONLY),
    endless: format === 'expiry',
    dispensable: behaviors.includes(OPTIONAL),
    ...(stringFormat === undefined ? {} : { format: stringFormat }),
    ...(range === undefined ? {} : { range: plainRange(range) }),
    ...(enumeration === undefined ? {} : { enum: enumOf(enumeration, format === 'lower_case') }),
    ...(message === undefined ? {} : { shape: shapeOf(message) }),
    ...(refersTo === undefined ? {} : { refersTo }),
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(after === undefined ? {} : { after }),
    ...(cursorOf === undefined ? {} : { cursorOf }),
    ...(counts === true ? { counts } : {}),
    ...(nullClears === true ? { nullClears } : {}),
    ...(defaults === undefined ? {} : { defaults }),
    get doc() {
      return documentation(desc).text;
    },
    get example() {
      return documentation(desc).example;
    },
  };
}

/** Only the bounds that are set; protobuf returns unset ones as undefined or prototype defaults. */
function plainRange(range: Range): Range {
  const names = ['min', 'max', 'above', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
  return Object.fromEntries(names.filter((name) => Object.hasOwn(range, name)).map((name) => [name, range[name]]));
}

function kindOf(desc: DescField, format: string): Kind {
  if (desc.message?.typeName === REFERENCE) return 'reference';
  if (desc.message !== undefined) return desc.message.fields.every((field) => field.name === 'values') ? 'list' : 'object';
  if (desc.enum !== undefined) return 'enum';
  const ofFormat = KINDS_BY_FORMAT[format];
  if (ofFormat !== undefined) return ofFormat;
  switch (desc.scalar) {
    case ScalarType.STRING:
      return 'string';
    case ScalarType.BOOL:
      return 'boolean';
    case ScalarType.INT32:
    case ScalarType.INT64:
      return 'integer';
    case ScalarType.DOUBLE:
      return 'number';
    case ScalarType.BYTES:
      return 'bytes';
    default:
      throw new Error(`${desc.parent.typeName}.${desc.name} has a type that no kind covers`);
  }
}

function enumOf(desc: DescEnum, lowerCase: boolean): EnumShape {
  const values = desc.values.filter((value) => value.number !== 0);
  const spelling = (name: string): string => {
    const bare = name.slice(desc.sharedPrefix?.length ?? 0);
    return lowerCase ? bare.toLowerCase() : bare;
  };
  return {
    typeName: desc.typeName,
    get doc() {
      return documentation(desc).text;
    },
    names: new Map(values.map((value) => [value.number, spelling(value.name)])),
    get docs() {
      return new Map(values.map((value) => [spelling(value.name), documentation(value).text]));
    },
    generated: new Map(values.map((value) => [spelling(value.name), value.name])),
    zero: desc.values.find((value) => value.number === 0)?.name ?? '',
    spellings: new Map(values.map((value) => [value.name, spelling(value.name)])),
  };
}
