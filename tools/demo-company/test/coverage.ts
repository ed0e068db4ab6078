import { ENUMS } from '../src/enums.ts';
import type { DemoFile } from '../src/index.ts';
import { parseInstant } from '../src/time/instant.ts';
import { SHAPES, type Shape } from './shapes.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  uuid: (value) => UUID.test(String(value)),
  text: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  phone: (value) => /^\+[1-9]\d{7,14}$/.test(String(value)),
  color: (value) => /^#[0-9A-F]{6}$/.test(String(value)),
  bool: (value) => typeof value === 'boolean',
  int: (value) => Number.isSafeInteger(value) && !Object.is(value, -0),
  number: (value) => Number.isFinite(value),
  ts: (value) => typeof value === 'string' && !/\.000000Z/.test(value) && Number.isFinite(parseInstant(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)) && Number.isFinite(Date.parse(String(value))),
  usd: (value) => value === 'USD',
};

/** What should occur somewhere and has not yet: `accounts.type=COMMERCIAL`, `accounts.email=null`,
`accounts.email≠null`. */
export class Coverage {
  readonly missing = new Set<string>();
  /** Values that do not fit the shape. */
  readonly misfits: string[] = [];

  constructor(paths: Iterable<string> = Object.keys(SHAPES)) {
    for (const path of paths) this.#expect(path, SHAPES[path] as Shape);
  }

  read(files: Iterable<DemoFile>): this {
    for (const { path, records } of files) {
      for (const record of records) this.#visit(path, SHAPES[path] as Shape, record);
    }
    return this;
  }

  #expect(at: string, shape: Shape): void {
    if (typeof shape === 'string') {
      for (const value of valuesOf(shape)) this.missing.add(`${at}=${value}`);
      if (shape === 'bool') for (const value of [true, false]) this.missing.add(`${at}=${value}`);
    } else if (isList(shape)) {
      this.missing.add(`${at}=[]`).add(`${at}≠[]`);
      this.#expect(at, shape[0]);
    } else {
      for (const [key, inner] of Object.entries(shape)) {
        const name = `${at}.${key.replace('?', '')}`;
        if (key.endsWith('?')) this.missing.add(`${name}=null`).add(`${name}≠null`);
        this.#expect(name, inner);
      }
    }
  }

  #visit(at: string, shape: Shape, value: unknown): void {
    if (typeof shape === 'string') {
      const values = valuesOf(shape);
      const fits = values.length > 0 ? values.includes(String(value)) : SCALARS[shape]?.(value);
      if (!fits) this.misfits.push(`${at}: ${JSON.stringify(value)}`);
      this.missing.delete(`${at}=${String(value)}`);
    } else if (isList(shape)) {
      if (!Array.isArray(value)) this.misfits.push(`${at}: no list`);
      else {
        this.missing.delete(value.length === 0 ? `${at}=[]` : `${at}≠[]`);
        for (const item of value) this.#visit(at, shape[0], item);
      }
    } else {
      const object = value as Readonly<Record<string, unknown>>;
      const keys = Object.keys(shape).map((key) => key.replace('?', ''));
      const odd = Object.keys(object).filter((key) => !keys.includes(key));
      if (odd.length > 0) this.misfits.push(`${at}: unknown ${odd.join()}`);
      for (const [key, inner] of Object.entries(shape)) {
        const name = key.replace('?', '');
        const field = object[name];
        if (key.endsWith('?')) this.missing.delete(`${at}.${name}${field === null ? '=' : '≠'}null`);
        if (field === undefined) this.misfits.push(`${at}.${name}: missing`);
        else if (field !== null || !key.endsWith('?')) this.#visit(`${at}.${name}`, inner, field);
      }
    }
  }
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function valuesOf(name: string): readonly string[] {
  return (ENUMS as Readonly<Record<string, readonly string[]>>)[name] ?? [];
}

/** Lists that have an element in every company. */
export const NEVER_EMPTY = [
  'locations.accounts', 'job-lifecycles.statuses', 'form-responses.questions', 'estimates.options',
  'estimates.options.line_items',
].map((at) => `${at}=[]`);
