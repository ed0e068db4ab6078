import type { Company, JobPlan } from '../company.ts';
import { eventTypesOf, inOrderOfReference, type EnumShape, type Field, type Shape } from '@truckroll/contract';
import type { Candidate } from '../ground.ts';
import { Rota, drawOf, hash, idOf, stream, type Draw, type Stream } from '../random.ts';
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

/** What a record draws from the stream of a field. */
const drawn = ({ company, n }: Subject, of: Stream): Draw => drawOf(company, of, n);
const idAt = ({ company, n }: Subject, of: Stream): string => idOf(company, of, n);
const hashAt = ({ company, n }: Subject, of: Stream): number => hash(company.seed, of, n);

const eventTypeOf = (format: keyof typeof eventTypesOf) => (subject: Subject, of: Stream) =>
  eventTypesOf[format][hashAt(subject, of) % eventTypesOf[format].length]?.type ?? '';

const BY_FORMAT: Readonly<Record<string, (subject: Subject, of: Stream) => string>> = {
  phone: (subject, of) => phoneIn(cityOf(subject.company, subject.job.account), drawn(subject, of)),
  email: (subject, of) => `${personOf(drawn(subject, of)).handle}.${subject.n}@example.org`,
  color: (subject, of) => `#${(hashAt(subject, of) >>> 8).toString(16).toUpperCase().padStart(6, '0')}`,
  currency: () => 'USD',
  time_zone: ({ company }) => company.zone.name,
  url: (subject, of) => `https://example.com/${idAt(subject, of)}`,
  idempotency_key: idAt,
  revision: (subject, of) => idAt(subject, of).replaceAll('-', '').repeat(2),
  json_pointer: ({ n }) => `/${n}`,
  event_type: eventTypeOf('event_type'),
  subscription: eventTypeOf('subscription'),
};

/** Texts of a field: by its format, else modelled on its example. */
function textOf(field: Field, { at }: Place): Generator {
  const of = stream(at);
  const made = BY_FORMAT[field.format ?? ''];
  return made === undefined ? wordsOf(field, of) : (subject) => made(subject, of);
}

/** An example ending in three or more digits is a number and is counted up. A word with digits is a code and gets random characters. */
function wordsOf(field: Field, of: Stream): (subject: Subject) => string {
  const { example = '' } = field;
  const numbered = /^(.*\D|)\d{3,}$/.exec(example);
  if (numbered) return ({ n }) => `${numbered[1]}${FIRST_NUMBER + n}`;
  if (/^\S*\d\S*$/.test(example)) return (subject) => codeLike(example, drawn(subject, of));
  const { minLength = 0, maxLength } = field.range ?? {};
  const texts = [example, ...PHRASES]
    .filter((text) => text !== '' && (field.format === undefined || !/\p{Cc}/u.test(text)))
    .map((text) => [...text.padEnd(minLength, '.')].slice(0, maxLength).join(''));
  return (subject) => drawn(subject, of).pick(texts);
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

/** The job's value, which may be null; else one of the candidates, or null. */
function referenceOf(field: Field, { path, at }: Place): Generator {
  const target = field.refersTo as string;
  const candidates = candidatesOf(path, target);
  const of = stream(at);
  const nulls = Rota.oneIn(4, `${at} is null`);
  return (subject) => {
    const { company, n, job } = subject;
    const said = company.saidBy(job, target, field);
    if (said !== undefined) return said === null ? null : written(field, said);
    if (field.nullable && nulls.at(company.seed, n)) return null;
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
type Make = (field: Field, place: Place) => Generator;

/** A field's location: the path of its record, its full name, and where its time lies between creation (0) and last edit (1). */
interface Place {
  readonly path: string;
  readonly at: string;
  readonly moment: number;
}

function generatorOf(field: Field, place: Place): Generator {
  const value = field.repeated ? listOf(field, place) : BY_KIND[field.kind](field, place);
  // A null reference is decided elsewhere: the job may know the record.
  if (!field.nullable || field.refersTo !== undefined) return value;
  const nulls = Rota.oneIn(4, `${place.at} is null`);
  return (subject) => (nulls.at(subject.company.seed, subject.n) ? null : value(subject));
}

function uuidOf(field: Field, place: Place): Generator {
  const of = stream(place.at);
  return field.refersTo === undefined ? (subject) => idAt(subject, of) : referenceOf(field, place);
}

const dated: Make = (_, place) => (subject) => dateText(subject.company.zone.day(momentOf(subject, place)));
const nothing: Make = () => () => null;

const BY_KIND: Readonly<Record<Field['kind'], Make>> = {
  uuid: uuidOf,
  reference: referenceOf,
  string: textOf,
  date: dated,
  local_date: dated,
  timestamp: (_, place) => (subject) => instantText(momentOf(subject, place)),
  cents: (field, place) => numberOf(field, place, 500_000, 1),
  integer: (field, place) => numberOf(field, place, 100, 1),
  number: (field, place) => numberOf(field, place, 10, 100),
  boolean: (_, place) => dealt(place, [true, false, false]),
  enum: (field, place) => dealt(place, [...(field.enum as EnumShape).names.values()]),
  object: (field, { path, at }) => objectOf(field.shape as Shape, path, at),
  list: (field, place) => listOf((field.shape as Shape).fields[0] as Field, place),
  cursor: nothing,
  json: nothing,
  bytes: (_, { at }) => {
    throw new Error(`${at} is not public`);
  },
};

function momentOf({ createdAt, updatedAt }: Subject, { moment }: Place): number {
  return createdAt + Math.floor((updatedAt - createdAt) * moment);
}

/** Values dealt like cards, so that each occurs in a small company. */
function dealt({ at }: Place, values: readonly unknown[]): Generator {
  const rota = new Rota(
    at,
    values.map((value) => [value, 1] as const),
  );
  return ({ company, n }) => rota.at(company.seed, n);
}

/** Within the field's bounds, or from 0 to `usual`, in steps of 1/`parts`. */
function numberOf({ range = {} }: Field, { at }: Place, usual: number, parts: number): Generator {
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
  const one = BY_KIND[field.kind](field, place);
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
