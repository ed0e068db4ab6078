import { ConnectionError, CopyMovedError, TruckrollError, type Retry } from '@truckroll/client';
import { EXIT, Failure } from '../terminal/failure.ts';
import { reasonsOf } from '../terminal/reasons.ts';

const OF_FILE: Readonly<Record<number, string>> = {
  5: 'another program is writing to it. End that program, or wait for it.',
  8: 'it may not be changed. Choose another file, or change its permissions.',
  13: 'the disk is full. Free some space, then run the command again.',
  14: 'it cannot be opened. Check that its folder exists and that you may write there.',
  26: 'it is not a SQLite file. Choose another file.',
};

export function explain(error: unknown, file: string, baseUrl: string): unknown {
  if (error instanceof TruckrollError) return new Failure(ofAnswer(error, file, baseUrl), error.status >= 500 ? EXIT.unreachable : EXIT.refused, error);
  if (error instanceof ConnectionError) {
    const howTo = 'check --url or TRUCKROLL_URL, and your network.';
    return new Failure(`The API at ${baseUrl} does not answer: ${howTo}`, EXIT.unreachable, error);
  }
  if (error instanceof CopyMovedError) return new Failure(`Another program keeps ${file} up to date: end one of them.`, EXIT.refused, error);
  if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_UNKNOWN_BUILTIN_MODULE') {
    return new Failure((error as Error).message, EXIT.usage, error);
  }
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  if (code === 1 && /no such|already exists|column/.test((error as Error).message)) {
    return new Failure(`${file} cannot be used: it has tables of another program. Choose another file.`, EXIT.unreachable, error);
  }
  // Extended codes have more in their higher bytes.
  const reason = OF_FILE[code & 0xff] ?? `SQLite says: ${(error as Error).message}. Free some space if the disk is full; else choose another file.`;
  return new Failure(`${file} cannot be used: ${reason}`, EXIT.unreachable, error);
}

function ofAnswer({ status, code, message, requestId, details }: TruckrollError, file: string, baseUrl: string): string {
  if (status === 401) return `The API does not accept the key: ${message}`;
  if (code === 'INVALID_CURSOR' || details.some((detail) => detail.code === 'INVALID_CURSOR'))
    return `${file} is a copy of another company, or from another installation: give that company's key, or another file.`;
  if (status === 404) return `The API at ${baseUrl} has no change feed: ask its operator for an upgrade, or use \`truckroll export\`.`;
  return `The API at ${baseUrl} answered ${status}${requestId === undefined ? '' : ` (request ${requestId})`}: ${reasonsOf({ message, details })}`;
}

/** What to say before a wait; undefined for one that a user would not notice. */
export function waitingReason({ error, attempts, pauseMs }: Retry): string | undefined {
  // The client's own pauses are at most 8 s, so a longer one is the API's Retry-After.
  if (attempts !== 3 && pauseMs < 10_000) return undefined;
  if (error instanceof TruckrollError && error.code === 'RATE_LIMITED') return `The key’s limit is reached; waiting ${Math.ceil(pauseMs / 1000)} s.`;
  return `${error instanceof TruckrollError ? error.message : 'The API does not answer.'} Trying again.`;
}
