// Fields and shapes that are in no contract.
import type { Field, Shape } from '../src/shape.ts';

export function field(name: string, kind: Field['kind'], more: Partial<Field> = {}): Field {
  return { name, number: 1, kind, nullable: false, repeated: false, derived: false, endless: false, dispensable: false, doc: '', ...more };
}

export function shape(...fields: Field[]): Shape {
  return { typeName: '', doc: '', fields, byName: new Map(fields.map((each) => [each.name, each])) };
}
