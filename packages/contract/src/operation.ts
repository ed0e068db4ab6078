// All public operations and records, read from the contract. No other module lists them.
import type { DescMethod } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import './gen/all.ts';
import { owners, type Owner } from './components.ts';
import type { Owners } from './gen/owners.ts';
import { messageTypeRegistry } from './gen/typeRegistry.ts';
import { deprecationOf, type Deprecation } from './deprecation.ts';
import { allServices, documentation, option } from './image.ts';
import { camelCase } from './json-plan.ts';
import { shapeOf, type Field, type Shape } from './shape.ts';

export type RecordOwner = keyof Owners;

export type ResourceOf<O extends RecordOwner> = Owners[O];

export interface Filter {
  /** Dotted path into the record; empty if the owning service applies its own rule. */
  field: string;
  comparison: 'any' | 'from' | 'before' | 'missing' | 'search' | 'phone' | 'email';
}

/** `field.name` is its name in the request message. */
export interface Parameter {
  name: string;
  field: Field;
  /** Where the value goes in the request message: inside `collection`, or at the top level. */
  within: 'collection' | 'request';
  filter?: Filter;
}

/** A public record (decisions §1). */
export interface Resource {
  path: string;
  owner: Owner;
  record: Shape;
  /** The fixed sort order's first column; ties are broken by id (api.md, policy 8). */
  order: 'created_at' | 'id';
  list: Operation;
  detail: Operation;
}

export interface Operation {
  /** Name of the rpc, such as `ListInvoices`. Unique in the contract. */
  name: string;
  owner: Owner;
  /** Full name of the gRPC service. */
  service: string;
  rpc: string;
  verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  route: string;
  /** A list pages through records, a detail reads one, a report pages through rows, anything else is a command. */
  kind: 'list' | 'detail' | 'report' | 'command';
  /** HTTP status of success, unless the owner's answer sets another. */
  status: number;
  camelCase: boolean;
  /** Kind of credential that the operation needs; absent for reads that accept any. */
  changedBy?: 'api_key' | 'user_token' | 'any';
  request: Shape;
  response: Shape;
  pathFields: readonly Field[];
  parameters: readonly Parameter[];
  /** Fields of the JSON body, if the verb has one. */
  bodyFields: readonly Field[];
  deprecation?: Deprecation;
  doc: string;
}

const FIRST_FIELD = { collection: 'truckroll.type.v1.Collection', key: 'truckroll.type.v1.Key' };
const CREDENTIALS = [undefined, 'api_key', 'user_token', 'any'] as const;
const COMPARISONS = ['any', 'from', 'before', 'missing', 'search', 'phone', 'email'] as const;
const PAGE = ['limit'];
const COMMON = ['ids', 'created_from', 'created_before', 'updated_since'];

interface HttpRule {
  pattern: { case?: string; value?: unknown };
  body: string;
}

function operationOf(method: DescMethod): Operation | undefined {
  const http = option<HttpRule>(method, 'google.api.http');
  if (http === undefined) return undefined;
  const template = String(http.pattern.value);
  const request = shapeOf(method.input);
  const response = shapeOf(method.output);
  const first = request.fields[0]?.shape?.typeName;
  const key = request.fields.find((field) => field.shape?.typeName === FIRST_FIELD.key)?.shape;
  const pathNames = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const pathFields = pathNames.map((name) => {
    const field = request.byName.get(name) ?? key?.byName.get(name);
    if (field === undefined) throw new Error(`${method.name}: the route names ${name}, the request does not`);
    return asIdOf(field, response.byName.get('data')?.shape);
  });
  const plain = request.fields.filter((field) => field.shape === undefined && !pathNames.includes(field.name));
  const isCollection = first === FIRST_FIELD.collection;
  const owner = method.parent.typeName.split('.')[1] as Owner;
  const isReport = template.startsWith('/v1/reports/');
  const camel = option<number>(method.parent, 'truckroll.options.v1.naming') === 1;
  const spelled = (name: string): string => (camel ? camelCase(name) : name);
  const parameters = http.body === '*' ? [] : [...collectionParameters(request, response, isReport), ...plain.map(parameterOf(method))];
  const deprecation = deprecationOf(method);
  const changedBy = CREDENTIALS[option<number>(method, 'truckroll.options.v1.changed_by') ?? 0];
  if (changedBy === undefined && http.pattern.case !== 'get')
    throw new Error(`${method.name}: an operation says by changed_by whose credential may make the change, unless it only reads`);
  return {
    name: method.name,
    owner,
    service: method.parent.typeName,
    rpc: `/${method.parent.typeName}/${method.name}`,
    verb: http.pattern.case?.toUpperCase() as Operation['verb'],
    route: template.replace(/\{(\w+)\}/g, (_, name: string) => `{${spelled(name)}}`),
    kind: isReport ? 'report' : isCollection ? 'list' : http.pattern.case === 'get' ? 'detail' : 'command',
    status: option<number>(method, 'truckroll.options.v1.status') ?? (http.pattern.case === 'post' && pathNames.length === 0 ? 201 : 200),
    camelCase: camel,
    ...(changedBy !== undefined && { changedBy }),
    request,
    response,
    pathFields,
    parameters: parameters.map((parameter) => ({ ...parameter, name: spelled(parameter.name) })),
    bodyFields: http.body === '*' ? request.fields.filter((field) => !pathNames.includes(field.name)) : [],
    ...(deprecation === undefined ? {} : { deprecation }),
    get doc() {
      return documentation(method).text;
    },
  };
}

function parameterOf(method: DescMethod): (field: Field) => Parameter {
  return (field) => {
    const desc = method.input.fields.find((candidate) => candidate.name === field.name);
    const filter = desc && option<{ field: string; comparison: number }>(desc, 'truckroll.options.v1.filter');
    return {
      name: field.name,
      field,
      within: 'request',
      ...(filter && { filter: { field: filter.field, comparison: COMPARISONS[filter.comparison] ?? 'any' } }),
    };
  };
}

/** The common parameters of lists, except those whose field the record lacks (decisions §1). */
function collectionParameters(request: Shape, response: Shape, isReport: boolean): Parameter[] {
  const collection = request.fields[0]?.shape;
  if (collection?.typeName !== FIRST_FIELD.collection) return [];
  const record = response.byName.get('data')?.shape;
  // `from` and `before` replace the common bounds.
  const common = request.byName.has('from') ? ['ids'] : COMMON;
  const names = isReport ? PAGE : [...PAGE, ...common];
  return names.flatMap((name): Parameter[] => {
    const field = collection.byName.get(name);
    if (field === undefined) throw new Error(`Collection has no field ${name}`);
    const onto = { ids: 'id', created_from: 'created_at', created_before: 'created_at', updated_since: 'updated_at' }[name];
    if (onto === undefined) return [{ name, field, within: 'collection' }];
    const target = record?.byName.get(onto);
    if (target === undefined) return [];
    const comparison = name === 'ids' ? 'any' : name === 'created_before' ? 'before' : 'from';
    return [{ name, field: asIdOf(field, record), within: 'collection', filter: { field: onto, comparison } }];
  });
}

function asIdOf(field: Field, record: Shape | undefined): Field {
  const codes = record?.byName.get('id')?.enum;
  return codes !== undefined && (field.name === 'id' || field.name === 'ids') ? changed(field, { kind: 'enum', enum: codes }) : field;
}

/** A copy that keeps getters, so that documentation is still read lazily. */
function changed(field: Field, changes: Partial<Field>): Field {
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(field), ...Object.getOwnPropertyDescriptors(changes) }) as Field;
}

/** Every rpc with an HTTP route. Loading this module throws if one of them contradicts itself. */
export const operations: readonly Operation[] = Object.freeze(
  allServices().flatMap((service) => service.methods.flatMap((method) => operationOf(method) ?? [])),
);

/** Every record that has a list and a detail under /v1, whichever service owns it. */
export const resources: readonly Resource[] = Object.freeze(
  allServices().flatMap((service) =>
    service.methods.flatMap((method) => {
      const desc = method.output.fields.find((field) => field.name === 'data' && field.fieldKind === 'list')?.message;
      const settings = desc && option<{ path: string; order?: number }>(desc, 'truckroll.options.v1.resource');
      if (desc === undefined || settings === undefined) return [];
      const [list, detail] = ['list', 'detail'].map((kind) =>
        operations.find((candidate) => candidate.service === service.typeName && candidate.kind === kind),
      );
      if (list === undefined || detail === undefined) throw new Error(`${settings.path} lacks its list or its detail`);
      const order = settings.order === 1 ? ('id' as const) : ('created_at' as const);
      return [Object.freeze({ path: settings.path, owner: list.owner, record: shapeOf(desc), order, list, detail })];
    }),
  ),
);

export const recordOwners: readonly RecordOwner[] = owners.filter((owner): owner is RecordOwner => resources.some((record) => record.owner === owner));

/** The record that is read at /v1/<path>. */
export function resource(path: string): Resource {
  const found = resources.find((candidate) => candidate.path === path);
  if (found === undefined) throw new Error(`the contract has no record at /v1/${path}`);
  return found;
}

export interface Codec<T = unknown> {
  encode(message: T, writer?: BinaryWriter): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Encoder and decoder of a message type by its full name, such as `truckroll.billing.v1.Invoice`. Throws if none is generated. */
export function codec(typeName: string): Codec {
  const found = messageTypeRegistry.get(typeName);
  if (found === undefined) throw new Error(`no generated code for ${typeName}`);
  return found;
}

let reusable: BinaryWriter | undefined;
/** Largest message, in bytes, whose buffer is kept for the next one. */
const MOST_KEPT = 65_536;

/** Reuses one buffer: growing a new one costs more than writing the message. */
export function encodeMessage<T>(type: Pick<Codec<T>, 'encode'>, message: T): Uint8Array {
  const writer = reusable ?? new BinaryWriter();
  // A message that fails to encode leaves a partial write in the buffer.
  reusable = undefined;
  const bytes = type.encode(message, writer).finish();
  if (bytes.length <= MOST_KEPT) reusable = writer;
  return bytes;
}

const empty = new WeakMap<object, object>();

/** Encodes a message in which only the given fields are set: a fragment that replaces those fields of a record. */
export function encodeFragment<T extends object>(type: Codec<T>, fields: Partial<T>): Uint8Array {
  let defaults = empty.get(type) as T | undefined;
  if (defaults === undefined) empty.set(type, (defaults = type.decode(new Uint8Array())));
  return encodeMessage(type, { ...defaults, ...fields });
}
