import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { AssignmentStatus } from '@truckroll/contract/gen/scheduling/v1/job_assignments';

export function subjectOf({ number }: Pick<Visit, 'number'>): string {
  return `Your appointment ${number}`;
}

/** Contains no times: the customer's time zone is unknown here, and a time that is an hour off is worse than none. */
export function defaultMessage({ number, assignments }: Pick<Visit, 'number' | 'assignments'>, { location }: Pick<VisitJob, 'location'>): string {
  const names = assignments.filter(({ status }) => status !== AssignmentStatus.CANCELED).flatMap(({ team_member }) => team_member?.name ?? []);
  const address = location?.address ? ` at ${location.address}` : '';
  const who = names.length === 0 ? 'We will tell you who comes.' : `Who comes: ${new Intl.ListFormat('en').format(names)}.`;
  return `There is news about your appointment ${number}${address}. ${who}`;
}
