import { resources, type Resource } from './operation.ts';
import type { Shape } from './shape.ts';

/** For each record's path, the paths it refers to and whether the reference is required (true). */
type Targets = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** All records, each after the records it must refer to, and after those it may refer to unless that makes a cycle. */
export function inOrderOfReference(): Resource[] {
  const targets: Targets = new Map(resources.map(({ path, record }) => [path, targetsOf(record, true)]));
  const ordered = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const [target, must] of targets.get(path) ?? []) {
      if (targets.has(target) && (must || !leads(targets, target, path))) visit(target);
    }
    ordered.add(path);
  };
  // Starts with records that have the fewest references. Otherwise alphabetical order would decide where cycles break.
  const size = (path: string): number => targets.get(path)?.size ?? 0;
  for (const path of [...targets.keys()].sort((a, b) => size(a) - size(b))) visit(path);
  return [...ordered].map((path) => resources.find((candidate) => candidate.path === path) as Resource);
}

function leads(targets: Targets, from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(targets.get(from)?.keys() ?? [])].some((next) => leads(targets, next, to, seen));
}

function targetsOf({ fields }: Shape, must: boolean, into = new Map<string, boolean>()): Map<string, boolean> {
  for (const field of fields) {
    if (field.derived || field.dispensable) continue;
    const here = must && !field.nullable && !field.repeated;
    if (field.refersTo !== undefined) into.set(field.refersTo, here || into.get(field.refersTo) === true);
    else if (field.shape !== undefined) targetsOf(field.shape, here, into);
  }
  return into;
}
