import { inOrderOfReference, type Field } from '@truckroll/contract';
import { hash, stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import type { Candidate } from '../ground.ts';
import type { Subject } from './subject.ts';

const ranks = new Map(inOrderOfReference().map(({ path }, rank) => [path, rank]));

/** Candidates for a reference: records related to the same job. Only plans may refer to a record that is imported later, to avoid cycles. */
function candidatesOf(path: string, target: string): (subject: Subject) => readonly Candidate[] {
  const own = ranks.get(path) ?? Infinity;
  if ((ranks.get(target) ?? Infinity) >= own) return () => [];
  return ({ company, job }) => company.candidates(target, job);
}

const written = (field: Field, { id, name = '' }: Candidate) => (field.kind === 'reference' ? { id, name } : id);

/** The job's value, which may be null; else one of the candidates, or null. `at` is the field's full name. */
export function referenceOf(path: string, at: string, field: Field): (subject: Subject) => unknown {
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
export function referencesOf(path: string, at: string, field: Field): (subject: Subject, count: number) => unknown[] {
  const candidates = candidatesOf(path, field.refersTo as string);
  const of = stream(at);
  return (subject, count) => {
    const found = candidates(subject);
    const first = hash(subject.company.seed, of, subject.n);
    return found.slice(0, count).map((_, i) => written(field, found[(first + i) % found.length] as Candidate));
  };
}
