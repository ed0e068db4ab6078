import { now } from '@truckroll/contract';
import type { ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Transaction } from '@truckroll/service-kit';
import type { Step } from './events.ts';
import { withLatestNames } from './references.ts';
import { followed } from './states.ts';
import { holdServiceRequestsOf, storeSteps } from './store.ts';

/**
 * Updates the service requests that a visit was booked for, in the transaction that added or removed a technician (decisions §6): with the
 * first technician they become SCHEDULED, with the last one gone BOOKED again. `technicians` is the number now on the visit, without
 * canceled assignments. The caller has locked the visit.
 */
export async function afterTechniciansChanged(tx: Transaction, companyId: string, visitId: string, technicians: number): Promise<void> {
  for (const held of await holdServiceRequestsOf(tx, companyId, visitId)) {
    if (followed(held.request.status, technicians) === undefined) continue;
    const at = now();
    const request = await withLatestNames(tx, companyId, held.request);
    await storeSteps(tx, companyId, held, at, stepsAfter(request, technicians, at));
  }
}

/** Steps of a service request that follow from the number of technicians on its visit. */
export function stepsAfter(request: ServiceRequest, technicians: number, at: number): Step[] {
  const status = followed(request.status, technicians);
  if (status === undefined) return [];
  return [{ type: 'service_request.status_changed', data: { ...request, status, updated_at: at }, previous: request.status }];
}
