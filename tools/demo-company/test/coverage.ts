import { checkValue, resource, type Field, type Shape } from '@truckroll/contract';
import type { DemoFile } from '../src/index.ts';
import { recordedFields } from '../src/shapes/kinds.ts';

/** Values that the contract accepts but a generator should not write. */
const ODD: Partial<Record<Field['kind'], (value: unknown) => boolean>> = {
  uuid: (value) => value !== String(value).toLowerCase(),
  timestamp: (value) => /\.000000Z/.test(String(value)),
  cents: (value) => Object.is(value, -0),
};

/** Values that should occur somewhere and have not yet: `accounts.type=COMMERCIAL`, `accounts.email=null`, `accounts.email≠null`. */
export class Coverage {
  readonly missing = new Set<string>();
  readonly misfits: string[] = [];
  readonly #shapes = new Map<string, Shape>();
  readonly #fields = new Map<Shape, ReadonlyMap<string, Field>>();

  constructor(shapes: Readonly<Record<string, Shape>> = {}) {
    for (const [path, shape] of Object.entries(shapes)) this.#shapes.set(path, shape);
  }

  read(files: Iterable<DemoFile>): this {
    for (const { path, records } of files) {
      const shape = this.#shapes.get(path) ?? resource(path).record;
      this.#expect(path, shape);
      for (const record of records) this.#object(path, shape, record);
    }
    return this;
  }

  #expect(at: string, shape: Shape): void {
    for (const field of recordedFields(shape)) {
      const name = `${at}.${field.name}`;
      const inner = elementOf(field) ?? field;
      if (field.nullable) this.missing.add(`${name}=null`).add(`${name}≠null`);
      if (isList(field)) this.missing.add(`${name}=[]`).add(`${name}≠[]`);
      for (const value of inner.enum?.names.values() ?? (field.kind === 'boolean' ? [true, false] : [])) this.missing.add(`${name}=${value}`);
      if (inner.kind === 'object') this.#expect(name, inner.shape as Shape);
    }
  }

  #object(at: string, shape: Shape, value: unknown): void {
    const object = value as Readonly<Record<string, unknown>>;
    let fields = this.#fields.get(shape);
    if (fields === undefined) this.#fields.set(shape, (fields = new Map(recordedFields(shape).map((field) => [field.name, field]))));
    for (const key of Object.keys(object)) if (!fields.has(key)) this.misfits.push(`${at}: unknown ${key}`);
    for (const [name, field] of fields) this.#field(`${at}.${name}`, field, object[name]);
  }

  #field(at: string, field: Field, value: unknown): void {
    if (field.nullable) this.missing.delete(`${at}${value === null ? '=' : '≠'}null`);
    if (value === undefined || (value === null && !field.nullable)) this.misfits.push(`${at}: missing`);
    else if (value === null) return;
    else if (!isList(field)) this.#one(at, field, value);
    else if (!Array.isArray(value)) this.misfits.push(`${at}: no list`);
    else {
      this.missing.delete(value.length === 0 ? `${at}=[]` : `${at}≠[]`);
      for (const item of value) this.#one(at, elementOf(field) ?? field, item);
    }
  }

  #one(at: string, field: Field, value: unknown): void {
    if (field.shape !== undefined) return this.#object(at, field.shape, value);
    const checked = checkValue(field, value);
    if ('code' in checked) this.misfits.push(`${at}: ${JSON.stringify(value)}: ${checked.message}`);
    else if (ODD[field.kind]?.(value)) this.misfits.push(`${at}: ${JSON.stringify(value)}`);
    this.missing.delete(`${at}=${String(value)}`);
  }
}

const isList = ({ repeated, kind }: Field): boolean => repeated || kind === 'list';
const elementOf = ({ kind, shape }: Field): Field | undefined => (kind === 'list' ? shape?.fields[0] : undefined);

export const NEVER_EMPTY = [
  'locations.accounts',
  'job-lifecycles.statuses',
  'form-responses.questions',
  'estimates.options',
  'estimates.options.line_items',
].map((at) => `${at}=[]`);
