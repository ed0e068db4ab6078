import { ApiError } from '@truckroll/contract';
import { ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';

/** A person, the booking of a visit, or technicians added to it or removed (decisions §6). */
export type Mover = 'hand' | 'booking' | 'technicians';

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

const WAYS: Readonly<Record<Mover, string>> = {
  hand: '',
  booking: ' (by booking a visit)',
  technicians: ' (by the technicians on its visit)',
};

/** Undefined if the move is allowed, else a 409 that lists the allowed ones. */
export function refuseMove(from: Status, to: Status, by: Mover): ApiError | undefined {
  if (MOVES[from][to] === by) return undefined;
  const allowed = (Object.entries(MOVES[from]) as [Status, Mover][]).map(([status, mover]) => `${shortName(status)}${WAYS[mover]}`);
  const choices = allowed.length === 0 ? 'it is final' : `from there it may go to ${allowed.join(', ')}`;
  return conflict(`The service request is ${shortName(from)} and cannot become ${shortName(to)}${WAYS[by]}: ${choices}.`);
}

/** The status that a service request gets from the number of technicians on its visit; undefined if it stays unchanged. */
export function followed(status: Status, technicians: number): Status | undefined {
  const to = technicians > 0 ? Status.SCHEDULED : Status.BOOKED;
  return MOVES[status][to] === 'technicians' ? to : undefined;
}

/** 409 INVALID_REQUEST: the stored record does not allow the change. */
export function conflict(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message, { status: 409 });
}

/** 409 IDEMPOTENCY_KEY_REUSED: the id was used before, with other content. */
export function taken(what: string): ApiError {
  return new ApiError('IDEMPOTENCY_KEY_REUSED', `Another ${what} was recorded with this id: use a new id for every new one.`);
}

function shortName(status: Status): string {
  return status.replace('SERVICE_REQUEST_STATUS_', '');
}
