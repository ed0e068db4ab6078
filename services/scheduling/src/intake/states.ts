// The states of service requests and interactions (decisions §6). Pure: who wants what comes in, a refusal or nothing
// comes out.
import { ApiError } from '@truckroll/contract';
import { ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';

/** What moves a service request: a person's word, the booking of a visit, or technicians who come onto it and leave. */
export type Mover = 'hand' | 'booking' | 'technicians';

/** From each status, where it may go and what takes it there. */
const MOVES: Readonly<Record<Status, Readonly<Partial<Record<Status, Mover>>>>> = {
  [Status.UNSPECIFIED]: {},
  [Status.UNRECOGNIZED]: {},
  [Status.NEW]: { [Status.CONTACTED]: 'hand', [Status.BOOKED]: 'booking', [Status.CLOSED]: 'hand', [Status.CANCELED]: 'hand' },
  [Status.CONTACTED]: { [Status.BOOKED]: 'booking', [Status.CLOSED]: 'hand', [Status.CANCELED]: 'hand' },
  [Status.BOOKED]: { [Status.SCHEDULED]: 'technicians', [Status.CLOSED]: 'hand', [Status.CANCELED]: 'hand' },
  [Status.SCHEDULED]: { [Status.BOOKED]: 'technicians', [Status.COMPLETED]: 'hand', [Status.CLOSED]: 'hand', [Status.CANCELED]: 'hand' },
  [Status.COMPLETED]: {},
  [Status.CLOSED]: {},
  [Status.CANCELED]: {},
};

/** How an allowed move that is not made by hand comes about. */
const WAYS: Readonly<Record<Mover, string>> = {
  hand: '',
  booking: ' (by booking a visit)',
  technicians: ' (by the technicians on its visit)',
};

/** Undefined where the move is allowed; else 409 that says which moves are. */
export function refuseMove(from: Status, to: Status, by: Mover): ApiError | undefined {
  if (MOVES[from][to] === by) return undefined;
  const allowed = (Object.entries(MOVES[from]) as [Status, Mover][]).map(([status, mover]) => `${shortName(status)}${WAYS[mover]}`);
  const choices = allowed.length === 0 ? 'it is final' : `from there it may go to ${allowed.join(', ')}`;
  return conflict(`The service request is ${shortName(from)} and cannot become ${shortName(to)}${WAYS[by]}: ${choices}.`);
}

/** The status that so many technicians on its visit give a service request; undefined where it stays as it is. */
export function followed(status: Status, technicians: number): Status | undefined {
  const to = technicians > 0 ? Status.SCHEDULED : Status.BOOKED;
  return MOVES[status][to] === 'technicians' ? to : undefined;
}

/** What was asked does not go with what is so. */
export function conflict(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message, { status: 409 });
}

/** An id that names something else already. */
export function taken(what: string): ApiError {
  return new ApiError('IDEMPOTENCY_KEY_REUSED', `Another ${what} was recorded with this id: use a new id for every new one.`);
}

function shortName(status: Status): string {
  return status.replace('SERVICE_REQUEST_STATUS_', '');
}
