import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { TargetProblem } from '@truckroll/webhook-targets';
import { ExchangeFailure } from './failure.ts';

/** Runs a check of a target and converts its TargetProblem to an ExchangeFailure. */
export function unlessForbidden<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TargetProblem)) throw error;
    throw new ExchangeFailure(AttemptError.FORBIDDEN_TARGET, `This target is not allowed. ${error.message}`);
  }
}
