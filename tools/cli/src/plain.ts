// Prints messages of the internal services: times in readable form, enums by their short names.
import { formatInstant, shapeNamed, type Field, type Shape } from '@truckroll/contract';

export type Plain = Record<string, unknown>;

export function plain(message: string, value: object): Plain {
  return plainObject(shapeNamed(message), value);
}

function plainObject(shape: Shape, value: object): Plain {
  const given = value as Record<string, unknown>;
  return Object.fromEntries(shape.fields.map((field) => [field.name, plainValue(field, given[field.name])]));
}

function plainValue(field: Field, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((element) => plainValue(field, element));
  if (field.shape !== undefined) return plainObject(field.shape, value);
  if (field.kind === 'timestamp') return formatInstant(value as number);
  return field.enum === undefined ? value : (field.enum.spellings.get(value as string) ?? value);
}
