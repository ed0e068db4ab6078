import { ApiError, isRefusedCaller } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { reasonsOf } from '@truckroll/integrator-cli/terminal/reasons';

/** Names of a service and its settings, for messages to the operator. */
interface Contact {
  readonly peer: string;
  /** How to reach it. */
  readonly howTo: string;
  /** The variable with the caller's credential. */
  readonly credential: string;
}

/** A service's error as a Failure. */
export function fromService(error: unknown, { peer, howTo, credential }: Contact): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 400) return new Failure(reasonsOf(error), EXIT.refused, error);
  if (error.status < 500) return new Failure(error.message, EXIT.refused, error);
  if (isRefusedCaller(error))
    return new Failure(
      `${peer} refused your credential: set ${credential} or ${credential}_FILE to the operator’s, whose SHA-256 is in its CALLER_CREDENTIALS.`,
      EXIT.unreachable,
      error,
    );
  if (error.status === 503 && isAway(error)) return new Failure(`${peer} does not answer: ${howTo}`, EXIT.unreachable, error);
  if (error.status === 503) return new Failure(error.message, EXIT.unreachable, error);
  return new Failure(`${peer} failed: see its log for the reason.`, EXIT.unreachable, error);
}

/** A service that answered 503 gives another reason in its message. */
function isAway(error: ApiError): boolean {
  return error.message === ApiError.unavailable(undefined).message;
}
