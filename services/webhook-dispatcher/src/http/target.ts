import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { TargetProblem } from '@truckroll/webhook-targets';
import { ExchangeFailure } from './failure.ts';

/** Does a check of a target; what it refuses is a failed exchange like any other. */
export function unlessForbidden<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TargetProblem)) throw error;
    throw new ExchangeFailure(AttemptError.FORBIDDEN_TARGET, `This target is not allowed. ${error.message}`);
  }
}
