// In which order records are taken in: reference data first.
import { resources, type Resource } from './operation.ts';
import type { Shape } from './shape.ts';

/** The records of the contract by path, each with what it refers to: whether it must (true) or may. */
type Targets = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** All records, each after those that it must refer to, and after those that it may, unless they lead back to it. */
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
  // Those that few others lead to last would otherwise decide by the alphabet: begin with what refers to least.
  const size = (path: string): number => targets.get(path)?.size ?? 0;
  for (const path of [...targets.keys()].sort((a, b) => size(a) - size(b))) visit(path);
  return [...ordered].map((path) => resources.find((candidate) => candidate.path === path) as Resource);
}

/** Whether what is at one path refers to the other, at first or last hand. */
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
