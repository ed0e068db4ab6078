// Builds an operation's request message from the parsed HTTP request (see inputs.ts).
import { checkText, codec, readMessage, type Codec, type ErrorDetail, type Field, type KeyStyle, type Operation, type Shape } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { readJsonText } from '../http/json-text.ts';
import { brokenRules } from './body-rules.ts';
import { filledFields, type Inputs } from './inputs.ts';
import type { Query } from './query.ts';

type Message = Record<string, unknown>;
type Part = { name: string; part: Codec };

/** The parts of a request message. Values are valid only if their parser found no problem. */
export interface RequestParts {
  principal: Principal;
  address: string | undefined;
  path: readonly unknown[];
  query: Query;
  after: Uint8Array | undefined;
  headers: ReadonlyMap<Field, unknown>;
  body: Message;
}

export type RequestEncoder = (parts: RequestParts) => Buffer;

export function compileRequest(operation: Operation, inputs: Inputs): RequestEncoder {
  const { encode, decode } = codec(operation.request.typeName);
  const empty = new Uint8Array();
  const [first, ...others] = filledFields(operation).map(({ name, shape }) => ({ name, part: codec(shape.typeName) })) as [Part, ...Part[]];

  return ({ principal, address, path, query, after, headers, body }) => {
    // Decoding an empty message gives one with all defaults.
    const message = decode(empty) as Message;
    Object.assign(message, body);
    const { company_id, time_zone, user_id, key_id } = principal;
    // The encoder writes only the fields that the message has: a Key has no limit, and only a Caller names the user.
    const known = { company_id, time_zone, user_id, key_id, address, limit: query.limit };
    const scope = Object.assign(first.part.decode(empty) as Message, known);
    if (after !== undefined) scope.after = after;
    for (const [parameter, value] of query.values) {
      (parameter.within === 'collection' ? scope : message)[parameter.field.name] = value;
    }
    inputs.path.forEach(({ field, within }, index) => {
      (within === 'key' ? scope : message)[field.name] = path[index];
    });
    for (const [field, value] of headers) message[field.name] = value;
    message[first.name] = scope;
    for (const { name, part } of others) message[name] = Object.assign(part.decode(empty) as Message, known);
    const bytes = encode(message).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

export function readPath(inputs: Inputs, values: readonly string[], problems: ErrorDetail[]): unknown[] {
  return inputs.path.map(({ name, field, within }, index) => {
    const text = values[index] ?? '';
    const checked = checkText(field, text);
    if ('code' in checked) {
      problems.push({ location: 'path', field: name, code: checked.code, message: checked.message });
      return undefined;
    }
    // For an id that is an enum, the text itself is the id.
    return within === 'key' && field.kind === 'enum' ? text : checked.value;
  });
}

export function readHeaders(inputs: Inputs, header: (name: string) => string | undefined, problems: ErrorDetail[]): Map<Field, unknown> {
  const values = new Map<Field, unknown>();
  for (const { header: name, field } of inputs.headers) {
    const text = header(name.toLowerCase());
    if (text === undefined || text === '') {
      const code = text === undefined ? 'MISSING' : 'EMPTY_VALUE';
      if (text === '' || !field.nullable) problems.push({ location: 'header', field: name, code, message: `Send the header ${name} with a value.` });
      continue;
    }
    const checked = checkText(field, text);
    if ('code' in checked) problems.push({ location: 'header', field: name, code: checked.code, message: checked.message });
    else values.set(field, checked.value);
  }
  return values;
}

/** The shape of the request message's fields that come from the JSON body; undefined if none do. */
export function bodyShape(operation: Operation, inputs: Inputs): Shape | undefined {
  if (inputs.body.length === 0) return undefined;
  const { request } = operation;
  return {
    typeName: request.typeName,
    get doc() {
      return request.doc;
    },
    fields: inputs.body,
    byName: new Map(inputs.body.map((field) => [field.name, field])),
  };
}

/** Whether a command may come without a body, because it needs no field. A PATCH without one would change nothing. */
export function mayBeLeftOut({ verb }: Operation, body: Shape | undefined): boolean {
  return verb === 'POST' && body?.fields.every(({ nullable }) => nullable) === true;
}

/** Rejects the fields of a body if the operation takes none. A body that is not a JSON object is ignored. */
export function refuseFields(bytes: Buffer, problems: ErrorDetail[]): void {
  const json = readJsonText(bytes)?.json;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return;
  for (const field of Object.keys(json)) {
    problems.push({ location: 'body', field: field.slice(0, 100), code: 'UNKNOWN_FIELD', message: 'Remove it: this operation takes no fields.' });
  }
}

/** The spelling of an operation's keys. */
export function keysOf({ camelCase }: Operation): KeyStyle {
  return camelCase ? 'camel' : 'snake';
}

export function readJson(operation: Operation, shape: Shape, json: unknown, problems: ErrorDetail[]): Message {
  const { value, problems: found } = readMessage<Message>(shape, json, keysOf(operation));
  for (const { field, code, message } of [...found, ...brokenRules(operation, shape, value, found)]) problems.push({ location: 'body', field, code, message });
  return value;
}
