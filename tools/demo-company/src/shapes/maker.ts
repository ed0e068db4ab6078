import { resource, type Field, type Shape } from '@truckroll/contract';
import type { Company } from '../company.ts';
import type { DemoRecord } from '../records.ts';
import type { JobPlan } from '../plans.ts';
import { instantText } from '../time/instant.ts';
import type { Given } from './given.ts';
import { generatorsOf } from './kinds.ts';
import { Subject } from './subject.ts';

type Facts = Readonly<Record<string, unknown>>;
type Writer = (value: unknown) => unknown;

/** Makes records of one path: the plan's values, formatted by field, and generated values for the rest. */
export type Maker<M> = (company: Company, n: number, given: Given<M>, job?: JobPlan) => DemoRecord;

/** `M` is the message of the records at /v1/<path>. */
export function makerOf<M>(path: string): Maker<M> {
  const make = recordMaker(path, resource(path).record);
  return (company, n, given, job) => {
    const { created_at: createdAt, updated_at: updatedAt } = given as Readonly<Record<string, number | null>>;
    const from = createdAt ?? company.since;
    return make(new Subject(company, n, from, updatedAt ?? from, job), given);
  };
}

export function recordMaker(path: string, shape: Shape): (subject: Subject, given: object) => DemoRecord {
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
