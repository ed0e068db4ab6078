import { resource, type Field, type Resource, type Shape } from '@truckroll/contract';
import type { Company, DemoRecord, JobPlan, Records } from '../company.ts';
import { instantText } from '../time.ts';
import type { Given } from './given.ts';
import { Subject, generatorsOf, recordedFields } from './kinds.ts';
import { hash, stream } from '../random.ts';

export type { Given, Spelled } from './given.ts';

type Facts = Readonly<Record<string, unknown>>;
type Writer = (value: unknown) => unknown;

/** Makes records of one path: the plan's values, formatted by field, and generated values for the rest. */
type Maker<M> = (about: { company: Company; n: number; job?: JobPlan | undefined }, given: Given<M>) => DemoRecord;

/** `M` is the message of the records at /v1/<path>. */
export function makerOf<M>(path: string): Maker<M> {
  const make = recordMaker(path, resource(path).record);
  return ({ company, n, job }, given) => {
    const { created_at: createdAt, updated_at: updatedAt } = given as Readonly<Record<string, number | null>>;
    const from = createdAt ?? company.since;
    return make(new Subject(company, n, from, updatedAt ?? from, job), given);
  };
}

function recordMaker(path: string, shape: Shape): (subject: Subject, given: object) => DemoRecord {
  const fields = generatorsOf(shape, path).map(([field, value]) => ({ name: field.name, value, write: writerOf(field) }));
  // Copied with all its keys: V8 reads and writes an object slowly once more than twelve keys were added one by one.
  const empty = JSON.parse(`{${fields.map(({ name }) => `"${name}":null`).join()}}`) as Record<string, unknown>;
  return (subject, given) => {
    const facts = given as Facts;
    const record = { ...empty };
    for (const { name, value, write } of fields) {
      const fact = facts[name];
      record[name] = fact === undefined ? value(subject) : write === undefined || fact === null ? fact : write(fact);
    }
    return record;
  };
}

/** How a given value becomes JSON: instants become text, also within objects; everything else is unchanged. */
function writerOf(field: Field): Writer | undefined {
  const one = oneWriter(field);
  return one !== undefined && (field.repeated || field.kind === 'list') ? (list) => (list as unknown[]).map(one) : one;
}

function oneWriter(field: Field): Writer | undefined {
  if (field.kind === 'timestamp') return (at) => instantText(at as number);
  if (field.kind === 'list') return oneWriter(field.shape?.fields[0] as Field);
  if (field.kind !== 'object') return undefined;
  const writers = new Map(
    (field.shape as Shape).fields.flatMap((inner) => {
      const write = writerOf(inner);
      return write === undefined ? [] : [[inner.name, write] as const];
    }),
  );
  if (writers.size === 0) return undefined;
  return (object) =>
    Object.fromEntries(Object.entries(object as Facts).map(([name, value]) => [name, value === null ? null : (writers.get(name)?.(value) ?? value)]));
}

const NOTHING = (_: Subject): object => ({});
const AGES = stream('ages of records');

const RUN = 4;

/**
 * One record for every four jobs, about the first of them with all required references; none if no job has those. `factsOf` sets
 * fields that must agree in ways the shape does not express.
 */
export function unplanned({ path, record: shape }: Pick<Resource, 'path' | 'record'>, factsOf = NOTHING): Records {
  const make = recordMaker(path, shape);
  const required = recordedFields(shape)
    .filter(({ nullable }) => !nullable)
    .map(({ name }) => name);

  function recordOf(company: Company, n: number): readonly [job: number, DemoRecord] | undefined {
    for (let number = n * RUN; number < Math.min((n + 1) * RUN, company.size.jobs); number++) {
      const job = company.jobAt(number);
      const createdAt = job.bookedAt + share(company, n, 0, company.until - job.bookedAt);
      const updatedAt = createdAt + share(company, n, 1, company.until - createdAt);
      const subject = new Subject(company, n, createdAt, updatedAt, job);
      const record = make(subject, factsOf(subject));
      if (required.every((name) => record[name] !== null)) return [number, record];
    }
    return undefined;
  }

  return {
    *all(company) {
      for (let n = 0; n * RUN < company.size.jobs; n++) {
        const made = recordOf(company, n);
        if (made) yield made[1];
      }
    },
    *about(company, job) {
      const made = recordOf(company, Math.floor(job.n / RUN));
      if (made?.[0] === job.n) yield made[1];
    },
  };
}

/** At most a tenth of the span, because most records are created and edited soon. */
function share({ seed }: Company, n: number, which: number, span: number): number {
  return Math.floor((hash(seed, AGES, n, which) / 0x1_0000_0000) * (span / 10));
}
