// Checks the arguments of a tool, and describes them as JSON Schema. The API checks filters itself.
export interface Argument {
  type: 'string' | 'integer' | 'object' | 'strings';
  required?: true;
  description?: string;
  enum?: readonly string[];
  min?: number;
  max?: number;
}

/** Most texts of a list: no kind has more fields. */
const MOST_TEXTS = 100;
/** Most wrong names that an answer repeats. */
const MOST_NAMES = 20;

export type Arguments = Readonly<Record<string, Argument>>;

export function schemaOf(wanted: Arguments): { type: 'object'; [key: string]: unknown } {
  const properties = Object.fromEntries(
    Object.entries(wanted).map(([name, { type, description, enum: values, min, max }]) => [
      name,
      {
        ...(type === 'strings' ? { type: 'array', items: { type: 'string' } } : { type }),
        ...(description !== undefined && { description }),
        ...(values !== undefined && { enum: values }),
        ...(min !== undefined && { minimum: min }),
        ...(max !== undefined && { maximum: max }),
      },
    ]),
  );
  const required = Object.keys(wanted).filter((name) => wanted[name]?.required === true);
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** Everything that is wrong with the arguments, a sentence each. */
export function faultsIn(wanted: Arguments, given: Readonly<Record<string, unknown>>): string[] {
  const unknown = Object.keys(given)
    .filter((name) => !Object.hasOwn(wanted, name))
    .map((name) => `${name.slice(0, 50)} is no argument: there are ${Object.keys(wanted).join(', ')}.`);
  const wrong = Object.entries(wanted).flatMap(([name, argument]) => {
    const value = given[name];
    if (value === undefined) return argument.required === true ? [`${name} is missing.`] : [];
    const expected = fault(argument, value);
    return expected === undefined ? [] : [`${name} must be ${expected}.`];
  });
  return [...unknown.slice(0, 10), ...wrong];
}

function fault({ type, enum: values, min = -Infinity, max = Infinity }: Argument, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      if (typeof value !== 'string' || value === '') return 'a text that is not empty';
      return values === undefined || values.includes(value) ? undefined : `one of ${values.join(', ')}`;
    case 'integer':
      return Number.isInteger(value) && (value as number) >= min && (value as number) <= max ? undefined : `an integer from ${min} to ${max}`;
    case 'strings':
      return Array.isArray(value) && value.length > 0 && value.length <= MOST_TEXTS && value.every((item) => typeof item === 'string')
        ? undefined
        : `a list of 1 to ${MOST_TEXTS} texts`;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'an object';
  }
}

/** Filters of `of` that are empty lists. Without values, a filter would let everything through. */
export function emptyIn(of: string, filters: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.entries(filters)
    .filter(([, value]) => Array.isArray(value) && value.length === 0)
    .slice(0, MOST_NAMES)
    .map(([name]) => `${of}.${name.slice(0, 50)} is an empty list: give at least one value, or leave it out.`);
}

/** A sentence about requested fields that are not in `known`, if there are any. */
export function unknownIn(fields: readonly string[] = [], known: readonly string[]): string[] {
  const unknown = fields.filter((name) => !known.includes(name));
  if (unknown.length === 0) return [];
  const more = unknown.length > MOST_NAMES ? ` and ${unknown.length - MOST_NAMES} more` : '';
  const named = unknown.slice(0, MOST_NAMES).map((name) => name.slice(0, 50));
  return [`fields has ${named.join(', ')}${more}: there are ${known.join(', ')}.`];
}

/** Filters as a query, with what is undefined left out; a list becomes a repeated parameter. */
export function queryOf(filters: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) query.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item));
  }
  return query.size === 0 ? '' : `?${query}`;
}
