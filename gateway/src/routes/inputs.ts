// Where each field of a request message comes from: path, query, a header, the body, or the gateway itself.
import { camelCase, type Field, type Operation, type Parameter, type Shape } from '@truckroll/contract';

export type Value = string | number | boolean;

/** Request fields that travel as headers. */
const HEADERS: Readonly<Record<string, string>> = { idempotency_key: 'Idempotency-Key' };
const COLLECTION = 'truckroll.type.v1.Collection';
/** Messages that the gateway fills from the credential. */
const FILLED = new Set([COLLECTION, 'truckroll.type.v1.Key', 'truckroll.type.v1.Caller']);

/** The parts of a request that the gateway fills. Every request has one, because it names the company. */
export function filledFields({ request }: Operation): (Field & { shape: Shape })[] {
  const filled = request.fields.filter(isFilled);
  if (filled.length === 0) throw new Error(`${request.typeName} has no Collection, Key or Caller, so it names no company`);
  return filled;
}

function isFilled(field: Field): field is Field & { shape: Shape } {
  return FILLED.has(field.shape?.typeName ?? '');
}

/** Maximum number of `ids` (api.md, Limits). */
const MOST_IDS = 100;

export interface PathInput {
  /** The name in the public path. */
  name: string;
  field: Field;
  /** Whether the field is part of the request's `key` or of the request itself. */
  within: 'key' | 'request';
}

export interface HeaderInput {
  header: string;
  field: Field;
}

export interface Inputs {
  path: readonly PathInput[];
  query: readonly Parameter[];
  headers: readonly HeaderInput[];
  body: readonly Field[];
  /** Whether the operation takes `limit` and `cursor`. */
  pages: boolean;
  /** Whether it answers with CSV too, and takes its parameters. */
  csv: boolean;
}

/** From the contract alone, once at start. Fields that the gateway fills are in none of the parts. */
export function inputsOf(operation: Operation): Inputs {
  const headers = operation.request.fields.flatMap((field): HeaderInput[] => {
    const header = HEADERS[field.name];
    return header === undefined ? [] : [{ header, field }];
  });
  return {
    path: operation.pathFields.map((field) => ({
      name: operation.camelCase ? camelCase(field.name) : field.name,
      field,
      within: operation.request.byName.has(field.name) ? 'request' : 'key',
    })),
    query: operation.parameters.filter(({ name }) => HEADERS[name] === undefined),
    headers,
    body: operation.bodyFields.filter((field) => HEADERS[field.name] === undefined && !isFilled(field)),
    pages: operation.request.fields.some(({ shape }) => shape?.typeName === COLLECTION),
    csv: operation.kind === 'report',
  };
}

/** Maximum number of values of a repeated parameter; undefined if only the size of a request limits it. */
export function mostValues({ within, field }: Parameter): number | undefined {
  return field.range?.maxItems ?? (within === 'collection' ? MOST_IDS : undefined);
}

/** Whether a parameter of the request must be given. Optional ones are nullable, repeated, dispensable, or have a default. A report's range is required. */
export function isRequired({ within, field }: Parameter): boolean {
  return within === 'request' && !field.nullable && !field.repeated && !field.dispensable && field.defaults === undefined;
}
