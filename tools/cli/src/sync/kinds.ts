import type { ChangeKind } from '@truckroll/client';
import { changeKinds, editDistance } from '@truckroll/contract';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';

const KNOWN = changeKinds.map(({ kind }) => kind);

/** Undefined for all. Throws Failure for an unknown kind. */
export function chosenKinds(only: readonly string[] | undefined): ChangeKind[] | undefined {
  for (const kind of only ?? []) {
    if (KNOWN.includes(kind)) continue;
    const [nearest] = KNOWN.toSorted((a, b) => editDistance(kind, a) - editDistance(kind, b));
    throw new Failure(`There are no records called ${kind}. Did you mean ${nearest}? There are ${KNOWN.join(', ')}.`);
  }
  return only as ChangeKind[] | undefined;
}
