import { ApiError, camelCase, checkValue, operations, shapeNamed, type ErrorDetail, type Field, type JsonProblem, type Shape } from '@truckroll/contract';
import type { Caller, Key } from '@truckroll/contract/gen/type/v1/type';

/** Requests whose fields the public knows in camelCase. */
const CAMEL_CASED = new Set(operations.filter((operation) => operation.camelCase).map(({ request }) => request.typeName));

/**
 * Checks an internal request against what proto/ says of its fields and hands it back with ids in lower case. Throws
 * ApiError INVALID_REQUEST that lists every failure.
 */
export function checked<T extends object>(message: string, request: T): T {
  const details: ErrorDetail[] = [];
  const shape = shapeNamed(`truckroll.integrations.v1.${message}`);
  const value = checkFields(shape, request, () => '', CAMEL_CASED.has(shape.typeName) ? camelCase : (name) => name, details);
  if (details.length > 0) throw ApiError.invalid(details);
  return value as T;
}

/** Who asks; the gateway has filled it in from the credential. */
export function callerOf({ caller }: { caller?: Caller | null | undefined }): Caller {
  if (caller == null) throw ApiError.internal(new Error('a command came without its caller'));
  return caller;
}

/** Whose records are read; the gateway has filled it in from the credential. */
export function companyOf({ key }: { key?: Key | null | undefined }): string {
  if (key == null) throw ApiError.internal(new Error('a read came without its company'));
  return key.company_id;
}

/** 400 for one field whose value is well-formed but cannot be taken. */
export function refused(field: string, message: string, code: ErrorDetail['code'] = 'INVALID_FORMAT'): ApiError {
  return ApiError.invalid([{ location: 'body', field, code, message }]);
}

/** 400 for the rules that a command breaks. */
export function refuseBroken(broken: readonly JsonProblem[]): void {
  if (broken.length > 0) throw ApiError.invalid(broken.map((problem) => ({ location: 'body', ...problem })));
}

type Spelled = (name: string) => string;

/** Put together for those that are refused: calls that carry hundreds of attempts are checked field by field. */
type Place = () => string;

function checkFields(shape: Shape, request: object, at: Place, spelled: Spelled, details: ErrorDetail[]): Record<string, unknown> {
  const given = request as Record<string, unknown>;
  const taken: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const value = given[field.name];
    taken[field.name] = value === undefined || value === null ? value : checkField(field, value, () => `${at()}${spelled(field.name)}`, spelled, details);
  }
  return taken;
}

function checkField(field: Field, value: unknown, at: Place, spelled: Spelled, details: ErrorDetail[]): unknown {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((element, index) => checkField(field, element, () => `${at()}[${index}]`, spelled, details));
  if (field.kind === 'list') {
    const [values] = (field.shape as Shape).fields as [Field];
    return { [values.name]: checkField(values, (value as Record<string, unknown>)[values.name], at, spelled, details) };
  }
  if (field.shape !== undefined) return checkFields(field.shape, value, () => `${at()}.`, spelled, details);
  // On the wire they are numbers or names of the contract already; bytes have no rule of their own.
  if (field.kind === 'timestamp' || field.kind === 'bytes' || field.kind === 'enum') return value;
  const result = checkValue(field, value);
  if ('value' in result) return result.value;
  details.push({ location: 'body', field: at(), code: value === '' ? 'MISSING' : result.code, message: result.message });
  return value;
}
