// Real error answers of an operation, each with the request that causes it; check:docs sends these requests.
import type { ErrorExample, OperationView } from './views.ts';

const NIL = '00000000-0000-4000-8000-000000000000';
const LIMITS = { reads: 6000, reports: 600, writes: 1200, changes: 600, digests: 10 };
const STALE = 'The visit has changed since it was read: read it again, and send its revision.';

export function errorExample(status: string, operation: OperationView): ErrorExample | undefined {
  switch (status) {
    case '400':
      return invalid(operation);
    case '401':
      return {
        code: 'UNAUTHENTICATED',
        message: 'Send the header Authorization: Bearer, followed by an API key or a user token.',
        details: [],
        request: { credential: 'none' },
      };
    case '404':
      return operation.pathIds[0]?.uuid !== true
        ? undefined
        : { code: 'NOT_FOUND', message: `No such ${operation.missing} in this company.`, details: [], request: { id: NIL } };
    case '409':
      return conflict(operation);
    case '410':
      return {
        code: 'RESYNC_REQUIRED',
        message: 'The database was restored after this cursor was issued: start without a cursor, and delete the records that have not appeared by the end.',
        details: [],
      };
    case '429':
      return { code: 'RATE_LIMITED', message: `More than ${LIMITS[operation.limit]} requests in a minute. Go on after the time in Retry-After.`, details: [] };
    case '500':
      return { code: 'INTERNAL_ERROR', message: 'The request could not be completed. Quote the request id when you report it.', details: [] };
    case '503':
      return { code: 'INTERNAL_ERROR', message: 'The service cannot answer at the moment. Try again after the time in Retry-After.', details: [] };
    default:
      return undefined;
  }
}

function invalid({ parameters, pathIds }: OperationView): ErrorExample {
  const [id] = pathIds;
  const limit = parameters.find(({ name }) => name === 'limit');
  if (limit !== undefined) {
    return refused('query', 'limit', 'OUT_OF_RANGE', `Give a number from 1 to ${String(limit.schema['maximum'])}.`, { query: 'limit=0' });
  }
  if (id !== undefined && id.uuid) {
    return refused('path', id.name, 'INVALID_UUID', 'Give a UUID such as 0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e.', { id: 'INV-1042' });
  }
  const names = parameters.filter(({ note = '' }) => !/^(path|header)/.test(note)).map(({ name }) => name);
  const hint = names.length === 0 ? '' : ` It takes ${names.join(', ')}.`;
  return refused('query', 'page', 'UNKNOWN_PARAMETER', `Remove it: this operation has no such parameter.${hint}`, { query: 'page=2' });
}

function refused(location: string, field: string, code: string, message: string, request: NonNullable<ErrorExample['request']>): ErrorExample {
  return { code: 'INVALID_REQUEST', message: `The request is not valid: see details for ${field}.`, details: [{ location, field, code, message }], request };
}

/** Only scheduling's writes compare revisions. */
function conflict({ body }: OperationView): ErrorExample | undefined {
  if (body === undefined || !body.rows.some(({ name }) => name === 'expected_revision')) return undefined;
  const detail = {
    location: 'body',
    field: 'expected_revision',
    code: 'STALE_REVISION',
    message: STALE,
    current_revision: String((body.example as Record<string, unknown>)['expected_revision']),
  };
  return { code: 'STALE_REVISION', message: STALE, details: [detail], request: { body: { expected_revision: '0'.repeat(64) } } };
}
