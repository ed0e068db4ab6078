import { checkRanges, resource, type JsonProblem } from '@truckroll/contract';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';

const { record } = resource('job-appointments');

/** A visit and its arrival window must end after they start (decisions §12). */
export function checkVisit(visit: Visit): JsonProblem[] {
  return checkRanges(record, visit);
}
