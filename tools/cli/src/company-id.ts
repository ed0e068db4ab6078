import { isUuid } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';

/** The id of a company that was given as an argument, in lower case. Throws Failure if it is none. */
export function companyIdOf(given: string): string {
  if (!isUuid(given)) throw new Failure(`${given} is no id of a company: see the ids with \`truckroll company list\`.`, EXIT.usage);
  return given.toLowerCase();
}

export function beingMoved(id: string): Failure {
  return new Failure(
    `The company ${id} is being moved: first end that, by \`truckroll company move\` and then with --confirm, or give it up with --abort.`,
    EXIT.refused,
  );
}
