import { ApiError, checkValue, shapeNamed, type ErrorDetail, type Field } from '@truckroll/contract';

/**
 * Checks an internal request against what proto/ says of its fields and hands it back with ids in lower case. Throws
 * ApiError INVALID_REQUEST that lists every failure.
 */
export function checked<T extends object>(message: string, request: T): T {
  const given = request as Record<string, unknown>;
  const details: ErrorDetail[] = [];
  const fields = shapeNamed(`truckroll.scheduling.v1.${message}`).fields.map((field) => [field.name, checkField(field, given[field.name], details)]);
  if (details.length > 0) throw ApiError.invalid(details);
  return Object.fromEntries(fields) as T;
}

/** 400 for one field whose value is well-formed but cannot be taken. */
export function refused(field: string, message: string, code: ErrorDetail['code'] = 'INVALID_FORMAT'): ApiError {
  return ApiError.invalid([{ location: 'body', field, code, message }]);
}

function checkField(field: Field, value: unknown, details: ErrorDetail[]): unknown {
  if (value === undefined || value === null) return null;
  if (field.enum !== undefined) {
    if (field.enum.spellings.has(value as string)) return value;
    const message = `Give one of ${[...field.enum.names.values()].join(', ')}.`;
    details.push({ location: 'body', field: field.name, code: value === field.enum.zero ? 'MISSING' : 'INVALID_ENUM_VALUE', message });
    return value;
  }
  // On the wire it is a number already.
  if (field.kind === 'timestamp') return value;
  const result = checkValue(field, value);
  if ('value' in result) return result.value;
  details.push({ location: 'body', field: field.name, code: value === '' ? 'MISSING' : result.code, message: result.message });
  return value;
}
