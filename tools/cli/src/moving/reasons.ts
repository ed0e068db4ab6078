// Why PostgreSQL refuses something or is away, in words for the operator, and what waits until it is back.
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { StatementError, isUnavailable } from '@truckroll/postgres';
import { backoffMs, pause } from '@truckroll/process';
import type { Session } from '../session.ts';

interface Cause {
  readonly code?: string;
  readonly message: string;
  readonly detail?: string;
  readonly errors?: readonly Cause[];
}

function causeOf(error: unknown): Cause {
  const cause = ((error as Error).cause ?? error) as Cause;
  // Node tries every address of a host.
  return cause.message === '' ? (cause.errors?.[0] ?? cause) : cause;
}

export function reasonOf(error: unknown): string {
  const { message, detail } = causeOf(error);
  return `${message} ${detail ?? ''}`.replaceAll(/\s+/g, ' ').replace(/[. ]+$/, '');
}

/** Node's codes for certificates that it does not accept. */
const CERTIFICATE = /CERT|SIGNATURE|ISSUER/;

/** `variable` names the address. */
export function notConnected(error: unknown, title: string, variable: string): unknown {
  if (isUnavailable(error))
    return new Failure(`PostgreSQL of ${title} cannot be used: ${reasonOf(error)}. Correct ${variable}, unless it is only starting.`, EXIT.unreachable, error);
  if (!CERTIFICATE.test(causeOf(error).code ?? '')) return error;
  const remedy = `Name a file with its authority in NODE_EXTRA_CA_CERTS, or correct sslmode in ${variable}.`;
  return new Failure(`The certificate of PostgreSQL of ${title} is not accepted: ${reasonOf(error)}. ${remedy}`, EXIT.unreachable, error);
}

const [DISK_FULL, NO_RIGHT, NO_TABLE] = ['53100', '42501', '42P01'];

/** A Failure for what an operator can correct, else the error itself. */
export function explained(error: unknown): unknown {
  const reason = reasonOf(error);
  if (isUnavailable(error)) {
    const what = causeOf(error).code === DISK_FULL ? 'A disk is full' : 'A server has been lost';
    return new Failure(`${what}: ${reason}. When that is corrected, run the command again, which continues.`, EXIT.unreachable, error);
  }
  if (!(error instanceof StatementError)) return error;
  const { sqlState } = error;
  if (sqlState === NO_RIGHT)
    return new Failure(`A right is missing: ${reason}. See "Before the first move" in docs/how-to/move-a-company.md.`, EXIT.refused, error);
  if (sqlState === NO_TABLE)
    return new Failure(`A table is missing: ${reason}. Bring both cells to this release, and run \`truckroll migrate\`.`, EXIT.refused, error);
  return error;
}

/** Time in ms for which a company that is closed waits for a server. Then only the next command opens it. */
export const OUTAGE_MS = 60_000;

/** Repeats work for which a company is closed, while a server is away. Rejects with the last error, or when `stop` is aborted. */
export async function despiteOutage(session: Session, work: () => Promise<void>, stop?: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(OUTAGE_MS);
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (limit.aborted || !(isUnavailable(error) || (error instanceof Failure && isUnavailable(error.cause)))) throw error;
      if (failures === 1) session.note(`the company is closed, and waits up to a minute for a server: ${reasonOf(error)}`);
    }
    await pause(backoffMs(failures), stop === undefined ? limit : AbortSignal.any([stop, limit]));
    stop?.throwIfAborted();
  }
}
