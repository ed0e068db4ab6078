import { resources, type Resource, type Shape } from '@truckroll/contract';

/** All records, each after those that it refers to. Where two refer to each other the contract's own order decides. */
export function inOrderOfReference(): Resource[] {
  const ordered: Resource[] = [];
  const seen = new Set<string>();
  const visit = (resource: Resource): void => {
    if (seen.has(resource.path)) return;
    seen.add(resource.path);
    const targets = targetsOf(resource.record);
    for (const target of resources.filter(({ path }) => targets.has(path))) visit(target);
    ordered.push(resource);
  };
  // Those that few others lead to last would otherwise decide by the alphabet: begin with what refers to least.
  for (const resource of [...resources].sort((a, b) => targetsOf(a.record).size - targetsOf(b.record).size)) visit(resource);
  return ordered;
}

function targetsOf(shape: Shape, into = new Set<string>()): Set<string> {
  for (const field of shape.fields) {
    if (field.derived) continue;
    if (field.refersTo !== undefined) into.add(field.refersTo);
    else if (field.kind === 'object' && field.shape !== undefined) targetsOf(field.shape, into);
  }
  return into;
}
