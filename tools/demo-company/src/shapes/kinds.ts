// Generates a value for each kind of field that no plan sets, from the shape alone, so that a new field needs no code here.
import type { EnumShape, Field, Shape } from '@truckroll/contract';
import { drawOf, idOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { dateText, instantText } from '../time/instant.ts';
import { referenceOf, referencesOf } from './references.ts';
import type { Subject } from './subject.ts';
import { textOf } from './texts.ts';

export type Generator = (subject: Subject) => unknown;

/** A field's location: the path of its record, its full name, and where its time lies between creation (0) and last edit (1). */
export interface Place {
  readonly path: string;
  readonly at: string;
  readonly moment: number;
}

function generatorOf(field: Field, place: Place): Generator {
  const value = field.repeated ? listOf(field, place) : oneOf(field, place);
  // A null reference is decided elsewhere: the job may know the record.
  if (!field.nullable || field.refersTo !== undefined) return value;
  const nulls = new Rota(`${place.at} is null`, [
    [true, 1],
    [false, 3],
  ]);
  return (subject) => (nulls.at(subject.company.seed, subject.n) ? null : value(subject));
}

function oneOf(field: Field, place: Place): Generator {
  const { path, at } = place;
  const of = stream(at);
  switch (field.kind) {
    case 'uuid':
      return field.refersTo === undefined ? ({ company, n }) => idOf(company, of, n) : referenceOf(path, at, field);
    case 'reference':
      return referenceOf(path, at, field);
    case 'string':
      return textOf(at, field);
    case 'date':
    case 'local_date':
      return (subject) => dateText(subject.company.zone.day(momentOf(subject, place)));
    case 'timestamp':
      return (subject) => instantText(momentOf(subject, place));
    case 'cents':
      return numberOf(field, at, 500_000, 1);
    case 'integer':
      return numberOf(field, at, 100, 1);
    case 'number':
      return numberOf(field, at, 10, 100);
    case 'boolean':
      return dealt(at, [true, false, false]);
    case 'enum':
      return dealt(at, [...(field.enum as EnumShape).names.values()]);
    case 'object':
      return objectOf(field.shape as Shape, path, at);
    case 'list':
      return listOf((field.shape as Shape).fields[0] as Field, place);
    case 'cursor':
    case 'json':
      return () => null;
    case 'bytes':
      throw new Error(`${at} is not public`);
  }
}

function momentOf({ createdAt, updatedAt }: Subject, { moment }: Place): number {
  return createdAt + Math.floor((updatedAt - createdAt) * moment);
}

/** Values dealt like cards, so that each occurs in a small company. */
function dealt(at: string, values: readonly unknown[]): Generator {
  const rota = new Rota(
    at,
    values.map((value) => [value, 1] as const),
  );
  return ({ company, n }) => rota.at(company.seed, n);
}

/** Within the field's bounds, or from 0 to `usual`, in steps of 1/`parts`. */
function numberOf({ range = {} }: Field, at: string, usual: number, parts: number): Generator {
  const of = stream(at);
  const least = range.min ?? (range.above === undefined ? 0 : range.above + 1 / parts);
  const most = range.max ?? least + usual;
  const [from, to] = [Math.ceil(least * parts), Math.floor(most * parts)];
  return ({ company, n }) => drawOf(company, of, n).between(from, to) / parts;
}

function listOf(field: Field, place: Place): Generator {
  const { minItems = 0, maxItems = Infinity } = field.range ?? {};
  const counts = new Rota(
    `how many ${place.at}`,
    [0, 1, 2].map((more) => [Math.min(minItems + more, maxItems), 1] as const),
  );
  const countOf = ({ company, n }: Subject) => counts.at(company.seed, n);
  if (field.refersTo !== undefined) {
    const references = referencesOf(place.path, place.at, field);
    return (subject) => references(subject, countOf(subject));
  }
  const one = oneOf(field, place);
  return (subject) => {
    const elements = Array.from({ length: countOf(subject) }, (_, i) => one(subject.element(i)));
    return [...new Set(elements)].filter((element) => element !== null);
  };
}

/** Fields that are stored, not derived from other records. */
export function recordedFields({ fields }: Shape): readonly Field[] {
  return fields.filter(({ derived, dispensable }) => !derived && !dispensable);
}

/** Generators of every stored field of a shape. Times are ordered like their fields. */
export function generatorsOf(shape: Shape, path: string, at = path): [Field, Generator][] {
  const recorded = recordedFields(shape);
  const moments = recorded.filter(({ kind, name }) => TIMES.includes(kind) && !(name in ENDS));
  return recorded.map((field) => {
    const moment = ENDS[field.name] ?? (moments.indexOf(field) + 1) / (moments.length + 1);
    return [field, generatorOf(field, { path, at: `${at}.${field.name}`, moment })];
  });
}

const TIMES: readonly string[] = ['timestamp', 'date', 'local_date'];
const ENDS: Readonly<Record<string, number>> = { created_at: 0, updated_at: 1 };

function objectOf(shape: Shape, path: string, at: string): Generator {
  const generators = generatorsOf(shape, path, at);
  return (subject) => {
    const values = generators.map(([field, value]) => [field, value(subject)] as const);
    const whole = values.every(([{ nullable }, value]) => nullable || value !== null);
    return whole ? Object.fromEntries(values.map(([{ name }, value]) => [name, value])) : null;
  };
}
