// Unbooked service requests, counted by a column that is projected from the document (docs/adr/0005).
import { ApiError } from '@truckroll/contract';
import type { CountServiceRequestsRequest, CountServiceRequestsResponse } from '@truckroll/contract/gen/scheduling/v1/service_request_counts';
import { ServiceRequest, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { arrayOf, type Database } from '@truckroll/postgres';
import { checkProjected, companiesBehind, type Projected, type Projection, type ReprojectOptions } from '@truckroll/record-store';
import { checked } from './requests.ts';

export const serviceRequests = { path: 'service-requests', table: 'service_requests', version: 1 } as const satisfies Projected;

/** Rows per transaction: small, so that it does not hold row locks for long. */
const BATCH = 100;
const RETRY_AFTER = 2;

export function isUnbooked(status: Status): boolean {
  return status === Status.NEW || status === Status.CONTACTED;
}

/** Errors: 503 until every service request of the company has been projected. */
export async function countServiceRequests(database: Database, request: CountServiceRequestsRequest): Promise<CountServiceRequestsResponse> {
  const { company_id: companyId } = checked('CountServiceRequestsRequest', request);
  // One statement, because another snapshot could see rows that were projected in between.
  const { rows } = await database.of(companyId).query<{ unbooked: number; behind: boolean }>({
    name: 'count_unbooked_service_requests',
    text: `select (select count(*) from service_requests where company_id = $1 and unbooked) as unbooked, coalesce(
        (select projection from service_requests where company_id = $1 order by projection limit 1) < ${serviceRequests.version}, false) as behind`,
    values: [companyId],
  });
  const { unbooked, behind } = rows[0] as (typeof rows)[number];
  if (!behind) return { unbooked };
  const message = 'Service requests that an older release stored are still being counted. Try again after the time in Retry-After.';
  throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER });
}

/** For the Reprojector: fills the column that countServiceRequests counts, in rows that an older release wrote. */
export function serviceRequestProjection(database: Database): Projection {
  return {
    ...serviceRequests,
    /** Companies take turns, so that one with few service requests does not wait for one with many. */
    async renew({ signal, renewed, rest }: ReprojectOptions): Promise<void> {
      for (let companies = await companiesBehind(database, serviceRequests); companies.length > 0; ) {
        for (const companyId of companies) {
          const startedAt = performance.now();
          signal.throwIfAborted();
          renewed(await renewBatch(database, companyId, signal));
          await rest(performance.now() - startedAt);
        }
        companies = await companiesBehind(database, serviceRequests);
      }
    },
  };
}

/** Locks the rows in the order of their ids, as the writes of a visit do. */
function renewBatch(database: Database, companyId: string, signal: AbortSignal): Promise<number> {
  return database.transaction(
    async (tx) => {
      const { rows } = await tx.query<{ id: string; document: Buffer }>({
        name: 'hold_behind_service_requests',
        text: `select id, document from service_requests where company_id = $1 and id = any(array(
            select id from service_requests where company_id = $1 and projection < ${serviceRequests.version} order by projection limit ${BATCH}))
          order by id for no key update`,
        values: [companyId],
      });
      const ids = rows.map(({ id }) => id);
      const unbooked = rows.map(({ document }) => isUnbooked(ServiceRequest.decode(document).status));
      const renewed = await tx.query<{ projection: number }>({
        name: 'renew_service_requests',
        text: `update service_requests r set unbooked = n.unbooked, projection = ${serviceRequests.version}
          from unnest($2::uuid[], $3::boolean[]) n (id, unbooked) where r.company_id = $1 and r.id = n.id
          returning r.projection`,
        values: [companyId, arrayOf('uuid', ids), arrayOf('boolean', unbooked)],
      });
      checkProjected(renewed.rows, serviceRequests);
      return rows.length;
    },
    { retryContention: true, signal },
  );
}
