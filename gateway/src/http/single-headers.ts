import type { IncomingMessage } from 'node:http';
import { ApiError, type ErrorDetail } from '@truckroll/contract';

/** Headers that must not be repeated: a proxy on the way may have read the other value (RFC 9110, 7.2 and 11.6.2). */
const SINGLE = ['Host', 'Authorization'];

/** Throws ApiError 400 for a request without the Host that HTTP/1.1 requires, or with a second Host or Authorization. */
export function checkSingleHeaders({ headers, rawHeaders, httpVersion }: IncomingMessage): void {
  const problems = SINGLE.filter((name) => count(rawHeaders, name) > 1).map(
    (field): ErrorDetail => ({
      location: 'header',
      field,
      code: 'REPEATED_PARAMETER',
      message: `Send the header ${field} once.`,
    }),
  );
  if (headers.host === undefined && httpVersion === '1.1') {
    problems.push({ location: 'header', field: 'Host', code: 'MISSING', message: 'Send the header Host, as HTTP/1.1 requires.' });
  } else if (headers.host === '') {
    problems.push({ location: 'header', field: 'Host', code: 'EMPTY_VALUE', message: 'Send the header Host with the name or address that you call.' });
  }
  if (problems.length > 0) throw ApiError.invalid(problems);
}

/** The value of a header (lower case) that occurs exactly once, else undefined. Cheaper than `headers`, which builds an object of them all. */
export function singleHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!isNamed(rawHeaders[i] as string, name)) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1];
  }
  return found;
}

/** Counts in rawHeaders, because `headers` keeps only the first of repeated headers. */
function count(rawHeaders: readonly string[], name: string): number {
  const lowerCase = name.toLowerCase();
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (isNamed(rawHeaders[i] as string, lowerCase)) found += 1;
  return found;
}

function isNamed(given: string, lowerCase: string): boolean {
  return given.length === lowerCase.length && given.toLowerCase() === lowerCase;
}
