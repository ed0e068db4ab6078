// The kinds of record in the change feed (decisions §14), by their public names.
import type { Owner } from './components.ts';
import { resources } from './operation.ts';
import { shapeNamed, type Shape } from './shape.ts';

export interface ChangeKind {
  /** `invoices`: the last part of the path, if the kind has one. */
  readonly kind: string;
  readonly owner: Owner;
  /** What a change carries. */
  readonly record: Shape;
}

/** Sorted by name. */
export const changeKinds: readonly ChangeKind[] = Object.freeze(
  [
    ...resources.map(({ path, owner, record }): ChangeKind => ({ kind: path, owner, record })),
    { kind: 'company', owner: 'integrations', record: shapeNamed('truckroll.integrations.v1.Company') } as const,
    { kind: 'service-requests', owner: 'scheduling', record: shapeNamed('truckroll.scheduling.v1.ServiceRequest') } as const,
    { kind: 'interactions', owner: 'scheduling', record: shapeNamed('truckroll.scheduling.v1.Interaction') } as const,
  ].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
);

/** Whether the change feed carries such records: they have the same keys wherever they are read. */
export function isChangeRecord({ typeName }: Shape): boolean {
  return changeKinds.some(({ record }) => record.typeName === typeName);
}
