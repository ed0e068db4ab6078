import { ApiError } from '@truckroll/contract';
import type { CountServiceRequestsRequest, CountServiceRequestsResponse } from '@truckroll/contract/gen/scheduling/v1/service_request_counts';
import type { Database } from '@truckroll/postgres';
import { checked } from './requests.ts';
import { UNBOOKED_SINCE } from './tables.ts';

const RETRY_AFTER = 2;

/** Errors: 503 until every service request of the company has been projected. */
export async function countServiceRequests(database: Database, request: CountServiceRequestsRequest): Promise<CountServiceRequestsResponse> {
  const { company_id: companyId } = checked('CountServiceRequestsRequest', request);
  // One statement, because another snapshot could see rows that were projected in between.
  const { rows } = await database.of(companyId).query<{ unbooked: number; behind: boolean }>({
    name: 'count_unbooked_service_requests',
    text: `select (select count(*) from service_requests where company_id = $1 and unbooked) as unbooked, coalesce(
        (select projection from service_requests where company_id = $1 order by projection limit 1) < ${UNBOOKED_SINCE}, false) as behind`,
    values: [companyId],
  });
  const { unbooked, behind } = rows[0] as (typeof rows)[number];
  if (!behind) return { unbooked };
  const message = 'Service requests that an older release stored are still being counted. Try again after the time in Retry-After.';
  throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER });
}
