// Errors of calls in words, with what to do about them.
import { ConnectionError, TruckrollError } from '@truckroll/client';
import { EXIT, Failure } from './terminal/failure.ts';
import { reasonsOf } from './terminal/reasons.ts';

/** The address of a failed call, and the source of its credential. */
export interface Asked {
  readonly baseUrl: string;
  /** Where the credential comes from. */
  readonly source: string;
  /** Filters that the command takes as arguments: by filter the argument. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Returns the error of a failed call in words, and any other error unchanged. */
export function explain(error: unknown, asked: () => Asked): unknown {
  if (error instanceof TruckrollError) return new Failure(ofAnswer(error, asked()), error.status >= 500 ? EXIT.unreachable : EXIT.refused, error);
  if (!(error instanceof ConnectionError)) return error;
  const { code, message } = (innermost(error) ?? {}) as { code?: string; message?: string };
  const reason = `${asked().baseUrl} does not answer (${code ?? message}). Check TRUCKROLL_URL or --url, and your network.`;
  return new Failure(reason, EXIT.unreachable, error);
}

function innermost({ cause }: Error): Error | undefined {
  return cause instanceof Error ? (innermost(cause) ?? cause) : undefined;
}

function ofAnswer({ status, code, message, details, requestId, retryAfterSeconds }: TruckrollError, asked: Asked): string {
  const { baseUrl, source } = asked;
  if (code === 'UNRECOGNIZED') return `${message.replace('baseUrl', 'TRUCKROLL_URL or --url')}`;
  if (status === 401) return `The API does not accept the credential (${source}): ${message}`;
  if (status === 404 && message.startsWith('Nothing is at this path'))
    return `${baseUrl} is not the address of the API: correct TRUCKROLL_URL or --url. (${message})`;
  const again = retryAfterSeconds === undefined ? '' : ` Try again in ${retryAfterSeconds} s.`;
  if (status >= 500) return `${baseUrl} answered ${status}: ${message}${again} (request ${requestId})`;
  return `${reasonsOf({ message: messageAlone(message, details), details: details.map((each) => named(each, asked)) })}${again}`;
}

/** Filters by the names of their options or arguments. */
function named({ location, field, message }: TruckrollError['details'][number], { arguments: given = {} }: Asked): { field: string; message: string } {
  return { field: location === 'query' ? (given[field] ?? `--${field.replaceAll('_', '-')}`) : field, message };
}

/** The client appends the first detail to the message. */
function messageAlone(message: string, [first]: TruckrollError['details']): string {
  return first === undefined ? message : message.split(` ${first.location} ${first.field}:`)[0]!;
}
