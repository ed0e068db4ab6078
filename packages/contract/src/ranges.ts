import type { JsonProblem } from './json-reader.ts';
import type { Shape } from './shape.ts';

/** Problems of times that must be after another field of the same message. Pairs with a missing time are not checked. */
export function checkRanges(shape: Shape, message: object): JsonProblem[] {
  const given = message as Readonly<Record<string, unknown>>;
  return shape.fields.flatMap(({ name, after }): JsonProblem[] => {
    if (after === undefined) return [];
    const [start, end] = [given[after], given[name]];
    if (typeof start !== 'number' || typeof end !== 'number' || end > start) return [];
    return [{ field: name, code: 'RANGE_ORDER', message: `Give an end that is after ${after}.` }];
  });
}
