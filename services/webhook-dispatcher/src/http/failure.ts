import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';

type Kind = (typeof AttemptError)[keyof typeof AttemptError];

/** Why an exchange failed, in words for the integrator's log: nothing about our own network is in them. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly kind: Kind;

  constructor(kind: Kind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** What undici and Node's sockets throw, by what it means to whoever runs the endpoint. */
export function failureOf(error: unknown): ExchangeFailure {
  if (error instanceof ExchangeFailure) return error;
  return new ExchangeFailure(AttemptError.EXCHANGE, exchangeMessage(codeOf(error)), error);
}

export function connectFailure(error: unknown): ExchangeFailure {
  return new ExchangeFailure(AttemptError.CONNECT, CONNECT[codeOf(error)] ?? 'No connection could be made.', error);
}

/** Messages of certificates' faults are Node's own: they name the certificate and the host that the integrator chose. */
export function tlsFailure(error: unknown): ExchangeFailure {
  const reason = String((error as Partial<Error> | null)?.message ?? '')
    .split('\n', 1)[0]!
    .slice(0, 300);
  return new ExchangeFailure(AttemptError.TLS, `The TLS handshake failed: ${reason || 'no reason was given'}`, error);
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

function exchangeMessage(code: string): string {
  if (code.startsWith('HPE_')) return 'What came was not a valid HTTP answer.';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'The headers of the answer were longer than 16 KB.';
  return 'The connection ended before the answer was complete.';
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
