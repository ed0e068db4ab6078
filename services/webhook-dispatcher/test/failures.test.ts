import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ExchangeFailure, connectFailure, failureOf, timeoutFailure, tlsFailure } from '../src/send/failure.ts';
import { resultOf } from '../src/log/lines.ts';

const withCode = (code: unknown): Error => Object.assign(new Error('with an address of our network'), { code });
const { NAME, FORBIDDEN_TARGET, CONNECT, TLS, TIMEOUT, EXCHANGE, UNSPECIFIED } = AttemptError;

test.each([
  ['ECONNREFUSED', 'The connection was refused.'],
  ['ECONNRESET', 'The connection was reset while it was made.'],
  ['EHOSTUNREACH', 'The host could not be reached.'],
  ['ENETUNREACH', 'The network of the host could not be reached.'],
  ['ETIMEDOUT', 'The host did not answer.'],
  ['EPERM', 'No connection could be made.'],
  [undefined, 'No connection could be made.'],
])('explains a connection that fails with %s: %s', (code, message) => {
  const error = withCode(code);
  expect(connectFailure(error)).toMatchObject({ kind: CONNECT, message, cause: error });
});

test.each([
  ['CERT_HAS_EXPIRED', 'The TLS handshake failed: the certificate has expired (CERT_HAS_EXPIRED).'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The TLS handshake failed: the certificate is for other host names (ERR_TLS_CERT_ALTNAME_INVALID).'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'The TLS handshake failed (ERR_SSL_WRONG_VERSION_NUMBER).'],
  [undefined, 'The TLS handshake failed.'],
])('explains a handshake that fails with %s: %s', (code, message) => {
  const error = withCode(code);
  expect(tlsFailure(error)).toMatchObject({ kind: TLS, message, cause: error });
});

test.each([
  [true, 'The connection ended before the answer was complete.'],
  [false, 'The connection ended without an answer.'],
])('explains an exchange that fails by its connection, whether an answer has begun (%s)', (begun, message) => {
  const error = withCode('ECONNRESET');
  expect(failureOf(error, begun)).toMatchObject({ kind: EXCHANGE, message, cause: error });
});

test.each([[null], [undefined], ['text']])('explains an exchange that fails with %p instead of an error', (thrown) => {
  expect(failureOf(thrown)).toMatchObject({ kind: EXCHANGE, message: 'The connection ended before the answer was complete.' });
});

test('keeps a failure that is explained already, and names the time after which an exchange timed out', () => {
  const failure = timeoutFailure(15);
  expect(failureOf(failure)).toBe(failure);
  expect(failure).toMatchObject({ kind: TIMEOUT, message: 'Timed out after 15 s.' });
  expect('cause' in failure).toBe(false);
  expect('cause' in new ExchangeFailure(NAME, 'x', null)).toBe(true);
});

test.each([
  [199, 'broken'],
  [200, '2xx'],
  [299, '2xx'],
  [300, '3xx'],
  [499, '4xx'],
  [500, '5xx'],
  [599, '5xx'],
  [600, 'broken'],
  [null, 'broken'],
] as const)('classifies the status %p as %s', (response_status, result) => {
  expect(resultOf({ error: UNSPECIFIED, response_status })).toBe(result);
});

test.each([
  [NAME, 'dns'],
  [FORBIDDEN_TARGET, 'blocked'],
  [CONNECT, 'refused'],
  [TLS, 'tls'],
  [TIMEOUT, 'timeout'],
  [EXCHANGE, 'broken'],
  // A value that a later release added.
  ['UNRECOGNIZED' as never, 'broken'],
] as const)('classifies the failure %s as %s, whatever the status', (error, result) => {
  expect([null, 200].map((response_status) => resultOf({ error, response_status }))).toEqual([result, result]);
});
