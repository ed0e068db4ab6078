import { ApiError, now, refused } from '@truckroll/contract';
import type {
  BookServiceRequestRequest,
  BookServiceRequestResponse,
  ChangeServiceRequestStatusRequest,
  ChangeServiceRequestStatusResponse,
} from '@truckroll/contract/gen/scheduling/v1/intake';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Transaction } from '@truckroll/postgres';
import { technicians } from '../visits/rules.ts';
import type { Step } from './events.ts';
import type { IntakeServices } from './services.ts';
import { withLatestNames } from './references.ts';
import { checked } from './requests.ts';
import { conflict, refuseMove } from './states.ts';
import { holdServiceRequest, storeSteps, type HeldRequest } from './store.ts';
import { stepsAfter } from './technicians.ts';

/** Returns the changed service request. Setting its current status changes nothing. Errors: 400, 404, 409. */
export async function changeStatus({ database, poke }: IntakeServices, asked: ChangeServiceRequestStatusRequest): Promise<ChangeServiceRequestStatusResponse> {
  const { company_id: companyId, id, status, closed_reason } = checked('ChangeServiceRequestStatusRequest', asked);
  const ends = status === Status.CLOSED || status === Status.CANCELED;
  if (closed_reason != null && !ends) throw refused('closed_reason', 'Give it with CLOSED or CANCELED only.');
  const service_request = await database.of(companyId).transaction(async (tx) => {
    const held = await hold(tx, companyId, id);
    const { request } = held;
    if (request.status === status && (closed_reason == null || closed_reason === request.closed_reason)) return request;
    const refusal = refuseMove(request.status, status, 'hand');
    if (refusal !== undefined) throw refusal;
    const at = now();
    const latest = await withLatestNames(tx, companyId, request);
    const data = { ...latest, status, closed_reason, updated_at: at };
    await storeSteps(tx, companyId, held, at, [{ type: 'service_request.status_changed', data, previous: request.status }]);
    return data;
  });
  poke();
  return { service_request };
}

/** Returns the booked request. If it is already booked for the visit, it only follows the technicians on it. Errors: 400, 404, 409. */
export async function bookServiceRequest({ database, poke }: IntakeServices, asked: BookServiceRequestRequest): Promise<BookServiceRequestResponse> {
  const { company_id: companyId, id, job_id, appointment_id } = checked('BookServiceRequestRequest', asked);
  const service_request = await database.of(companyId).transaction(
    async (tx) => {
      const visit = await holdVisit(tx, companyId, appointment_id);
      const held = await hold(tx, companyId, id);
      if (visit?.job_id !== job_id) throw ApiError.notFound('visit of this job');
      const request = await withLatestNames(tx, companyId, held.request);
      const at = now();
      const steps: Step[] = [];
      let latest = request;
      if (request.appointment_id !== appointment_id) {
        const refusal = refuseMove(request.status, Status.BOOKED, 'booking');
        if (refusal !== undefined) throw refusal;
        if (visit.canceled) throw conflict('The visit is canceled: book another one.');
        latest = { ...request, status: Status.BOOKED, job_id, appointment_id, booked_at: at, updated_at: at };
        steps.push({ type: 'service_request.status_changed', data: latest, previous: request.status }, { type: 'service_request.booked', data: latest });
      }
      steps.push(...stepsAfter(latest, technicians(visit).length, at));
      await storeSteps(tx, companyId, held, at, steps);
      return steps.at(-1)?.data ?? request;
    },
    { retryContention: true },
  );
  poke();
  return { service_request };
}

async function hold(tx: Transaction, companyId: string, id: string): Promise<HeldRequest> {
  const held = await holdServiceRequest(tx, companyId, id);
  if (held === undefined) throw ApiError.notFound('service request');
  return held;
}

/** Marks a visit as booked, until a refusal rolls it back. Locks it before the request: technicians must not change between count and booking. */
async function holdVisit(tx: Transaction, companyId: string, id: string): Promise<Visit | undefined> {
  const [row] = await tx.queryBinary({
    name: 'book_visit',
    text: 'update job_appointments set booked = true where company_id = $1 and id = $2 returning document, derived',
    values: [companyId, id],
  });
  if (row === undefined) return undefined;
  const [document, derived] = row as [Buffer, Buffer];
  return { ...Visit.decode(document), assignments: Visit.decode(derived).assignments };
}
