import { ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { followed, refuseMove, taken, type Mover } from '../src/intake/states.ts';

const STATES = [Status.NEW, Status.CONTACTED, Status.BOOKED, Status.SCHEDULED, Status.COMPLETED, Status.CLOSED, Status.CANCELED];
const MOVERS: Mover[] = ['hand', 'booking', 'technicians'];
const short = (status: Status): string => status.replace('SERVICE_REQUEST_STATUS_', '');

/** Decisions §6, word for word: every other move is refused. */
const ALLOWED = new Set([
  'NEW CONTACTED hand',
  'NEW BOOKED booking',
  'CONTACTED BOOKED booking',
  'BOOKED SCHEDULED technicians',
  'SCHEDULED BOOKED technicians',
  'SCHEDULED COMPLETED hand',
  ...['NEW', 'CONTACTED', 'BOOKED', 'SCHEDULED'].flatMap((from) => [`${from} CLOSED hand`, `${from} CANCELED hand`]),
]);
const moves = STATES.flatMap((from) => STATES.flatMap((to) => MOVERS.map((by) => ({ from, to, by, name: `${short(from)} ${short(to)} ${by}` }))));

test.each(moves)('a service request moves by $name only where the decisions allow it', ({ from, to, by, name }) => {
  expect(refuseMove(from, to, by) === undefined).toBe(ALLOWED.has(name));
});

test('lists the allowed moves, and what causes them', () => {
  expect(refuseMove(Status.CONTACTED, Status.COMPLETED, 'hand')).toMatchObject({
    status: 409,
    message: 'The service request is CONTACTED and cannot become COMPLETED: from there it may go to BOOKED (by booking a visit), CLOSED, CANCELED.',
  });
  expect(refuseMove(Status.CLOSED, Status.CONTACTED, 'hand')?.message).toMatch(/it is final/);
});

test('follows the technicians on the visit only while the request is booked or scheduled', () => {
  for (const status of STATES) {
    expect([followed(status, 0), followed(status, 2)]).toEqual([
      status === Status.SCHEDULED ? Status.BOOKED : undefined,
      status === Status.BOOKED ? Status.SCHEDULED : undefined,
    ]);
  }
});

test('refuses an id in use with IDEMPOTENCY_KEY_REUSED', () => {
  expect(taken('interaction')).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: 'Another interaction was recorded with this id: use a new id for every new one.',
  });
});
