import { now } from '@truckroll/contract';
import type { ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Transaction } from '@truckroll/postgres';
import type { Step } from './events.ts';
import { withLatestNames } from './references.ts';
import { followed } from './states.ts';
import { holdServiceRequestsOf, storeSteps } from './store.ts';

/**
 * Updates the service requests booked for a visit (decisions §6): SCHEDULED with the first technician, BOOKED again without any.
 * `technicians` excludes canceled assignments. The caller has locked the visit.
 */
export async function afterTechniciansChanged(tx: Transaction, companyId: string, visitId: string, technicians: number): Promise<void> {
  for (const held of await holdServiceRequestsOf(tx, companyId, visitId)) {
    if (followed(held.request.status, technicians) === undefined) continue;
    const at = now();
    const request = await withLatestNames(tx, companyId, held.request);
    await storeSteps(tx, companyId, held, at, stepsAfter(request, technicians, at));
  }
}

export function stepsAfter(request: ServiceRequest, technicians: number, at: number): Step[] {
  const status = followed(request.status, technicians);
  if (status === undefined) return [];
  return [{ type: 'service_request.status_changed', data: { ...request, status, updated_at: at }, previous: request.status }];
}
