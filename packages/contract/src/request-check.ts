// Checks internal requests against proto/: the gateway checks what clients send, but nothing else checks requests from other components.
import { ApiError, type ErrorDetail } from './errors.ts';
import { zeroOf, type JsonProblem } from './json-reader.ts';
import { camelCase } from './json-plan.ts';
import { operations } from './operation.ts';
import { checkRanges } from './ranges.ts';
import { checkValue } from './scalar.ts';
import { shapeNamed, type Field, type Shape } from './shape.ts';

export interface RequestCheckOptions {
  /** Whether enum values must be known and not zero. Otherwise enums are not checked. */
  readonly namedValues?: boolean;
}

/** Checks requests by message name: returns them with ids in lower case, or throws INVALID_REQUEST listing every problem by its public field name. */
export function requestCheck(packageName: string, { namedValues = false }: RequestCheckOptions = {}): <T extends object>(message: string, request: T) => T {
  return (message, request) => {
    const shape = shapeNamed(`${packageName}.${message}`);
    const check: Check = { namedValues, spelled: CAMEL_CASED.has(shape.typeName) ? camelCase : (name) => name, details: [] };
    const checked = checkFields(shape, request, () => '', check);
    if (check.details.length > 0) throw ApiError.invalid(check.details);
    return checked as typeof request;
  };
}

/** 400 for one field whose value is well-formed but not acceptable. */
export function refused(field: string, message: string, code: ErrorDetail['code'] = 'INVALID_FORMAT'): ApiError {
  return ApiError.invalid([{ location: 'body', field, code, message }]);
}

/** Throws 400 if any command rule is broken. */
export function refuseBroken(broken: readonly JsonProblem[]): void {
  if (broken.length > 0) throw ApiError.invalid(broken.map((problem) => ({ location: 'body', ...problem })));
}

const CAMEL_CASED = new Set(operations.filter((operation) => operation.camelCase).map(({ request }) => request.typeName));

interface Check {
  readonly namedValues: boolean;
  readonly spelled: (name: string) => string;
  readonly details: ErrorDetail[];
}

/** Builds a field's path, only for fields with problems: some requests carry hundreds of items that are checked field by field. */
type PathOf = () => string;

function checkFields(shape: Shape, request: object, at: PathOf, check: Check): Record<string, unknown> {
  const given = request as Record<string, unknown>;
  const taken: Record<string, unknown> = {};
  for (const field of shape.fields) taken[field.name] = checkField(field, given[field.name], () => `${at()}${check.spelled(field.name)}`, check);
  for (const { field, ...problem } of checkRanges(shape, request))
    check.details.push({ location: 'body', field: `${at()}${check.spelled(field)}`, ...problem });
  return taken;
}

function checkField(field: Field, value: unknown, at: PathOf, check: Check): unknown {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((element, index) => checkField(field, element, () => `${at()}[${index}]`, check));
  if (field.kind === 'list') {
    const [values] = (field.shape as Shape).fields as [Field];
    return { [values.name]: checkField(values, (value as Record<string, unknown>)[values.name], at, check) };
  }
  if (field.shape !== undefined) return checkFields(field.shape, value, () => `${at()}.`, check);
  // Timestamps are already numbers on the wire and JSON is text; bytes have no rule.
  if (field.kind === 'timestamp' || field.kind === 'json' || field.kind === 'bytes') return value;
  if (field.enum !== undefined) {
    if (check.namedValues && !field.enum.spellings.has(value as string)) {
      const message = `Give one of ${[...field.enum.names.values()].join(', ')}.`;
      check.details.push({ location: 'body', field: at(), code: value === field.enum.zero ? 'MISSING' : 'INVALID_ENUM_VALUE', message });
    }
    return value;
  }
  if (field.nullClears === true && value === zeroOf(field)) return value;
  const result = checkValue(field, value);
  if ('value' in result) return result.value;
  check.details.push({ location: 'body', field: at(), code: value === '' ? 'MISSING' : result.code, message: result.message });
  return value;
}
