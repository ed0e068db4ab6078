// The error envelope and the error responses that every operation can give (decisions §3).
import { ERROR_STATUS, exampleId } from '@truckroll/contract';
import type { Schema } from './schemas.ts';

const DETAIL_CODES: Readonly<Record<string, string>> = {
  UNKNOWN_PARAMETER: 'the operation has no such query parameter',
  REPEATED_PARAMETER: 'a parameter of one value was given more than once',
  EMPTY_VALUE: 'the value is empty',
  INVALID_UUID: 'not a UUID',
  INVALID_ENUM_VALUE: 'not one of the allowed values',
  INVALID_FORMAT: 'not of the form that the field has',
  OUT_OF_RANGE: 'too small, too large, too long or too many',
  RANGE_ORDER: 'the upper bound is not later than the lower one',
  MISSING: 'required and not given',
  UNKNOWN_FIELD: 'the body has a field that the operation does not know',
  OUTSIDE_ARRIVAL_WINDOW: 'the times are outside the visit’s arrival window',
  TOO_LARGE: 'more than 64 KB',
};

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });

export const errorSchemas: Readonly<Record<string, Schema>> = {
  ErrorResponse: {
    type: 'object',
    description: 'The body of every answer that is not a success.',
    required: ['error'],
    properties: { error: { $ref: '#/components/schemas/ApiError' } },
  },
  ApiError: {
    type: 'object',
    description: 'What went wrong and what to do about it.',
    required: ['code', 'message', 'request_id', 'details'],
    properties: {
      code: text('What kind of failure it is. More may be added.', { enum: Object.keys(ERROR_STATUS), examples: ['INVALID_REQUEST'] }),
      message: text('For people; its wording may change.', { examples: ['The request is not valid: see details for limit.'] }),
      request_id: text('Identifies the request to support; equal to the header X-Request-Id.', { examples: [exampleId('request')] }),
      details: {
        type: 'array',
        description: 'Every failure of the request at once; empty where there is nothing to add.',
        items: { $ref: '#/components/schemas/ErrorDetail' },
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    description: 'One failure of a request.',
    required: ['location', 'field', 'code', 'message'],
    properties: {
      location: text('The part of the request.', { enum: ['query', 'path', 'body', 'header'], examples: ['query'] }),
      field: text('The parameter, header or path of the field.', { examples: ['limit'] }),
      code: text(
        [
          'What is wrong. A 409 repeats its own code here. More may be added.',
          '',
          ...Object.entries(DETAIL_CODES).map(([code, doc]) => `- \`${code}\`: ${doc}`),
        ].join('\n'),
        { examples: ['OUT_OF_RANGE'] },
      ),
      message: text('What to do about it.', { examples: ['Give a number from 1 to 100.'] }),
      current_revision: text('With STALE_REVISION: the visit’s revision as it is now.', { pattern: '^[0-9a-f]{64}$' }),
      reason: text('With a conflict: which state refuses the change.', { examples: ['COMPLETED'] }),
    },
  },
};

const ref = (name: string): Schema => ({ $ref: `#/components/headers/${name}` });

export const headerComponents: Readonly<Record<string, Schema>> = {
  'X-Request-Id': { description: 'Identifies the request; equal to the body’s request_id.', schema: { type: 'string', format: 'uuid' } },
  'Cache-Control': { description: 'Always `private, no-store`.', schema: { type: 'string', enum: ['private, no-store'] } },
  'RateLimit-Policy': {
    description: 'The nearer of the limits that the request counts against, the key’s or the company’s: its name, requests (`q`) and window in seconds (`w`).',
    schema: { type: 'string', examples: ['"default";q=6000;w=60'] },
  },
  RateLimit: {
    description: 'What is left of it (`r`) and in how many seconds it starts anew (`t`).',
    schema: { type: 'string', examples: ['"default";r=5999;t=60'] },
  },
  Location: { description: 'Path of the record that was made.', schema: { type: 'string', examples: [`/v1/job-assignments/${exampleId('job-assignments')}`] } },
  'Idempotent-Replayed': {
    description: '`true` where the answer is that of an earlier request with the same key; absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { type: 'string', enum: ['Bearer'] } },
};

const commonHeaders: Schema = { 'X-Request-Id': ref('X-Request-Id'), 'Cache-Control': ref('Cache-Control') };
export const limitHeaders: Schema = { ...commonHeaders, 'RateLimit-Policy': ref('RateLimit-Policy'), RateLimit: ref('RateLimit') };

/** Headers of answers that come as JSON or CSV. */
export const reportHeaders: Schema = {
  Vary: {
    description: '`Accept`, for the answer is JSON or CSV; and `Accept-Encoding` where large answers are compressed.',
    schema: { type: 'string', examples: ['Accept, Accept-Encoding'] },
  },
  Link: { description: 'CSV only, with `rel="next"`: the next page. Absent on the last one.', schema: { type: 'string' } },
};

export const deprecationHeaders: Schema = {
  Deprecation: { description: 'Since when the operation is deprecated, `@` and seconds since 1970 (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'From when on it may be gone (RFC 8594).', schema: { type: 'string' } },
  Link: { description: 'With `rel="deprecation"`: the changelog.', schema: { type: 'string' } },
};

/** Response components by name; operations refer to them by status (errorResponses). */
export const responseComponents: Readonly<Record<string, Schema>> = {
  InvalidRequest: answer('`INVALID_REQUEST` with every failure in details, or `INVALID_CURSOR`.', limitHeaders),
  Unauthenticated: answer('`UNAUTHENTICATED`: no credential, one that is unknown, expired or revoked, or of the wrong kind.', {
    ...commonHeaders,
    'WWW-Authenticate': ref('WWW-Authenticate'),
  }),
  NotFound: answer('`NOT_FOUND`: no such record, or one of another company.', limitHeaders),
  Conflict: answer('The state of the record or of an earlier request refuses the change; the code says which.', {
    ...limitHeaders,
    'Retry-After': ref('Retry-After'),
  }),
  ResyncRequired: answer('`RESYNC_REQUIRED`: the database was restored after this cursor was given. Start again without a cursor.', limitHeaders),
  RateLimited: answer('`RATE_LIMITED`: more requests in a minute, or at once, than the limits allow.', { ...limitHeaders, 'Retry-After': ref('Retry-After') }),
  InternalError: answer('`INTERNAL_ERROR`: a defect on our side.', limitHeaders),
  Unavailable: answer('`INTERNAL_ERROR`: something we depend on does not answer at the moment.', { ...commonHeaders, 'Retry-After': ref('Retry-After') }),
};

function answer(description: string, headers: Schema): Schema {
  return { description, headers, content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } } };
}

export function errorResponses(options: { named: boolean; changes: boolean; resyncs: boolean }): Record<string, Schema> {
  const names = {
    400: 'InvalidRequest',
    401: 'Unauthenticated',
    ...(options.named || options.changes ? { 404: 'NotFound' } : {}),
    ...(options.changes ? { 409: 'Conflict' } : {}),
    ...(options.resyncs ? { 410: 'ResyncRequired' } : {}),
    429: 'RateLimited',
    500: 'InternalError',
    503: 'Unavailable',
  };
  return Object.fromEntries(Object.entries(names).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]));
}
