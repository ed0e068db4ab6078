import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Reference } from '@truckroll/contract/gen/type/v1/type';

export function subjectOf({ number }: Pick<Visit, 'number'>): string {
  return `Your appointment ${number}`;
}

const NEWS = 'There is news about your appointment';
const WHO = 'Who comes:';
const NAMES = new RegExp(`^(${NEWS} .*${WHO}) .+\\.$`, 's');

/** Contains no times: the customer's time zone is unknown here, and a time that is an hour off is worse than none. */
export function defaultMessage(visit: Pick<Visit, 'number' | 'assignments'>, { location }: Pick<VisitJob, 'location'>): string {
  const { number } = visit;
  const names = comingTo(visit).map(({ name }) => name);
  const address = location?.address ? ` at ${location.address}` : '';
  const who = names.length === 0 ? 'We will tell you who comes.' : `${WHO} ${new Intl.ListFormat('en').format(names)}.`;
  return `${NEWS} ${number}${address}. ${who}`;
}

/** The team members that the default message names. */
export function comingTo({ assignments }: Pick<Visit, 'assignments'>): Reference[] {
  return assignments.filter(({ status }) => status !== AssignmentStatus.CANCELED).flatMap(({ team_member }) => team_member ?? []);
}

/** A default message with this name in place of the team members'. Other messages are returned unchanged. */
export function withOneName(message: string, name: string): string {
  return message.replace(NAMES, (_, before: string) => `${before} ${name}.`);
}
