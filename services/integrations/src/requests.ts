import { ApiError, checkValue, shapeNamed, type ErrorDetail, type Field, type Shape } from '@truckroll/contract';
import type { Caller, Key } from '@truckroll/contract/gen/type/v1/type';

/**
 * Checks an internal request against what proto/ says of its fields and hands it back with ids in lower case. Throws
 * ApiError INVALID_REQUEST that lists every failure.
 */
export function checked<T extends object>(message: string, request: T): T {
  const details: ErrorDetail[] = [];
  const value = checkFields(shapeNamed(`truckroll.integrations.v1.${message}`), request, '', details);
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

function checkFields(shape: Shape, request: object, at: string, details: ErrorDetail[]): Record<string, unknown> {
  const given = request as Record<string, unknown>;
  return Object.fromEntries(
    shape.fields.map((field) => [field.name, checkField(field, given[field.name], `${at}${field.name}`, details)]),
  );
}

function checkField(field: Field, value: unknown, at: string, details: ErrorDetail[]): unknown {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((element, index) => checkField(field, element, `${at}[${index}]`, details));
  if (field.shape !== undefined) return checkFields(field.shape, value, `${at}.`, details);
  // On the wire they are numbers or names of the contract already; bytes have no rule of their own.
  if (field.kind === 'timestamp' || field.kind === 'bytes' || field.kind === 'enum') return value;
  const result = checkValue(field, value);
  if ('value' in result) return result.value;
  details.push({ location: 'body', field: at, code: value === '' ? 'MISSING' : result.code, message: result.message });
  return value;
}
