import type { JsonProblem } from '@truckroll/contract';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';

/** A visit and its arrival window end after they start (decisions §12). */
export function checkVisit(visit: Visit): JsonProblem[] {
  return (
    [['window_start_at', 'window_end_at'], ['starts_at', 'ends_at']] as const
  ).flatMap(([start, end]): JsonProblem[] =>
    visit[end] > visit[start] ? [] : [{ field: end, code: 'RANGE_ORDER', message: `Give an end that is after ${start}.` }],
  );
}
