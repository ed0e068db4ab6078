import type { Company, JobPlan } from '../company.ts';
import { eventTypesOf, inOrderOfReference, type EnumShape, type Field, type Shape } from '@truckroll/contract';
import { drawOf, idOf, type Candidate } from '../ground.ts';
import { Rota, hash, stream, type Draw } from '../random.ts';
import { cityOf, phoneIn } from '../words/places.ts';
import { personOf } from '../words/people.ts';
import { SUMMARIES, VISIT_NOTES } from '../words/phrases.ts';
import { dateText, instantText } from '../time.ts';

/** The context in which a record's values are generated: each value is a function of this and of its field. */
export class Subject {
  readonly company: Company;
  readonly n: number;
  /** When the record was created and last edited; its other times lie between, in the order of its fields. */
  readonly createdAt: number;
  readonly updatedAt: number;
  #job: JobPlan | undefined;

  constructor(company: Company, n: number, createdAt: number, updatedAt: number, job?: JobPlan) {
    this.company = company;
    this.n = n;
    this.createdAt = createdAt;
    this.updatedAt = updatedAt;
    this.#job = job;
  }

  get job(): JobPlan {
    return (this.#job ??= this.company.jobAt(this.n % this.company.size.jobs));
  }

  element(position: number): Subject {
    return new Subject(this.company, this.n * ELEMENTS + position, this.createdAt, this.updatedAt, this.job);
  }
}

const ELEMENTS = 8;

const PHRASES = [...SUMMARIES, ...VISIT_NOTES];
const FIRST_NUMBER = 10_001;

/** Texts of a field: by its format, else modelled on its example. */
function textOf(at: string, field: Field): (subject: Subject) => string {
  const of = stream(at);
  const drawn = ({ company, n }: Subject) => drawOf(company, of, n);
  const id = ({ company, n }: Subject) => idOf(company, of, n);
  switch (field.format) {
    case 'phone':
      return (subject) => phoneIn(cityOf(subject.company, subject.job.account), drawn(subject));
    case 'email':
      return (subject) => `${personOf(drawn(subject)).handle}.${subject.n}@example.org`;
    case 'color':
      return ({ company, n }) => `#${(hash(company.seed, of, n) >>> 8).toString(16).toUpperCase().padStart(6, '0')}`;
    case 'currency':
      return () => 'USD';
    case 'time_zone':
      return ({ company }) => company.zone.name;
    case 'url':
      return (subject) => `https://example.com/${id(subject)}`;
    case 'idempotency_key':
      return id;
    case 'revision':
      return (subject) => id(subject).replaceAll('-', '').repeat(2);
    case 'json_pointer':
      return ({ n }) => `/${n}`;
    case 'event_type':
    case 'subscription': {
      const types = eventTypesOf[field.format];
      return ({ company, n }) => types[hash(company.seed, of, n) % types.length]?.type ?? '';
    }
    default:
      return wordsOf(field, drawn);
  }
}

/** An example ending in three or more digits is a number and is counted up. A word with digits is a code and gets random characters. */
function wordsOf(field: Field, drawn: (subject: Subject) => Draw): (subject: Subject) => string {
  const { example = '' } = field;
  const numbered = /^(.*\D|)\d{3,}$/.exec(example);
  if (numbered) return ({ n }) => `${numbered[1]}${FIRST_NUMBER + n}`;
  if (/^\S*\d\S*$/.test(example)) return (subject) => codeLike(example, drawn(subject));
  const { minLength = 0, maxLength } = field.range ?? {};
  const texts = [example, ...PHRASES]
    .filter((text) => text !== '' && (field.format === undefined || !/\p{Cc}/u.test(text)))
    .map((text) => [...text.padEnd(minLength, '.')].slice(0, maxLength).join(''));
  return (subject) => drawn(subject).pick(texts);
}

function codeLike(example: string, draw: Draw): string {
  return example.replace(/\d/g, () => String(draw.below(10))).replace(/[A-Z]/g, () => String.fromCharCode(65 + draw.below(26)));
}

const ranks = new Map(inOrderOfReference().map(({ path }, rank) => [path, rank]));

/** Candidates for a reference: records related to the same job. Only plans may refer to a record that is imported later, to avoid cycles. */
function candidatesOf(path: string, target: string): (subject: Subject) => readonly Candidate[] {
  const own = ranks.get(path) ?? Infinity;
  if ((ranks.get(target) ?? Infinity) >= own) return () => [];
  return ({ company, job }) => company.candidates(target, job);
}

const written = (field: Field, { id, name = '' }: Candidate) => (field.kind === 'reference' ? { id, name } : id);

/** The job's value, which may be null; else one of the candidates, or null. `at` is the field's full name. */
function referenceOf(path: string, at: string, field: Field): (subject: Subject) => unknown {
  const target = field.refersTo as string;
  const candidates = candidatesOf(path, target);
  const of = stream(at);
  const nulls = new Rota(`${at} is null`, [
    [true, field.nullable ? 1 : 0],
    [false, 3],
  ]);
  return (subject) => {
    const { company, n, job } = subject;
    const said = company.saidBy(job, target, field);
    if (said !== undefined) return said === null ? null : written(field, said);
    if (nulls.at(company.seed, n)) return null;
    const found = candidates(subject);
    const chosen = found[hash(company.seed, of, n) % found.length];
    return chosen === undefined ? null : written(field, chosen);
  };
}

/** `count` of the candidates, each at most once. */
function referencesOf(path: string, at: string, field: Field): (subject: Subject, count: number) => unknown[] {
  const candidates = candidatesOf(path, field.refersTo as string);
  const of = stream(at);
  return (subject, count) => {
    const found = candidates(subject);
    const first = hash(subject.company.seed, of, subject.n);
    return found.slice(0, count).map((_, i) => written(field, found[(first + i) % found.length] as Candidate));
  };
}

// Generates a value for each kind of field that no plan sets, from the shape alone, so that a new field needs no code here.

type Generator = (subject: Subject) => unknown;

/** A field's location: the path of its record, its full name, and where its time lies between creation (0) and last edit (1). */
interface Place {
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
