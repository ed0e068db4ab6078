import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { errors } from 'undici';

type Kind = (typeof AttemptError)[keyof typeof AttemptError];

/** Why an exchange failed. The message is for the integrator's log and must not reveal anything about our network. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly kind: Kind;

  constructor(kind: Kind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Converts errors of undici and Node's sockets into messages for the endpoint's operator. `begun`: whether any of the answer arrived. */
export function failureOf(error: unknown, begun = true): ExchangeFailure {
  if (error instanceof ExchangeFailure) return error;
  return new ExchangeFailure(AttemptError.EXCHANGE, exchangeMessage(error, begun), error);
}

export function connectFailure(error: unknown): ExchangeFailure {
  return new ExchangeFailure(AttemptError.CONNECT, CONNECT[codeOf(error)] ?? 'No connection could be made.', error);
}

/** Contains only Node's error code, because OpenSSL's messages contain memory addresses and source files. */
export function tlsFailure(error: unknown): ExchangeFailure {
  const code = codeOf(error);
  const reason = TLS[code] === undefined ? '' : `: ${TLS[code]}`;
  return new ExchangeFailure(AttemptError.TLS, `The TLS handshake failed${reason}${code && ` (${code})`}.`, error);
}

export function timeoutFailure(seconds: number): ExchangeFailure {
  return new ExchangeFailure(AttemptError.TIMEOUT, `Timed out after ${seconds} s.`);
}

const CONNECT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset while it was made.',
  EHOSTUNREACH: 'The host could not be reached.',
  ENETUNREACH: 'The network of the host could not be reached.',
  ETIMEDOUT: 'The host did not answer.',
};

const TLS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send its intermediate certificates',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for other host names',
  ECONNRESET: 'the connection was reset',
};

function exchangeMessage(error: unknown, begun: boolean): string {
  // AnswerHead checks the head, so that these are about what follows it. llhttp's reasons are constants.
  if (error instanceof errors.HTTPParserError) return `The answer is not valid HTTP: ${/\((.*)\)/.exec(error.message)?.[1] ?? 'its body is malformed'}.`;
  if (error instanceof errors.HeadersOverflowError) return 'The trailers of the answer were longer than 64 KB.';
  return begun ? 'The connection ended before the answer was complete.' : 'The connection ended without an answer.';
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
