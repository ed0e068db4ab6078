import type { Resource, Shape } from '@truckroll/contract';
import type { Json } from './company.ts';

export type Names = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

export function namesOf(data: Readonly<Record<string, readonly Json[]>>): Names {
  return new Map(Object.entries(data).map(([path, records]) => [path, new Map(records.map(({ id, name, number }) => [id, name ?? number]))]));
}

export function strays({ record: shape }: Pick<Resource, 'record'>, records: Iterable<Json>, known: Names): unknown[] {
  return Array.from(records).flatMap((record) =>
    [...referencesIn(shape, record)].filter(([path, reference]) => {
      const names = known.get(path);
      return typeof reference === 'string' ? !names?.has(reference) : names?.get(reference.id) !== reference.name;
    }),
  );
}

function* referencesIn(shape: Shape, value: Json): Iterable<readonly [path: string, reference: any]> {
  for (const field of shape.fields) {
    const inner = field.kind === 'list' ? field.shape?.fields[0]?.shape : field.shape;
    for (const item of [value[field.name] ?? []].flat()) {
      if (field.refersTo !== undefined) yield [field.refersTo, item];
      else if (inner !== undefined) yield* referencesIn(inner, item);
    }
  }
}
