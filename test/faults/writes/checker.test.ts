// Tests the checker itself: a correct history passes, and each kind of violation is found.
import type { Answer, Attempt, Write } from './history.ts';
import type { Observed, PublishedEvent, RequestEvent, StoredVisit, VisitEvent } from './observed.ts';
import { check } from './checker.ts';

const [NEW, BOOKED, SCHEDULED] = ['NEW', 'BOOKED', 'SCHEDULED'].map((name) => `SERVICE_REQUEST_STATUS_${name}`);
const COMPANY = 'company';

/** A visit with a service request: key k1 adds Ada, k2 removes her, and k3 adds Bo. */
function story(): { history: Attempt[]; observed: Observed } {
  const add = (technicianId: string, expectedRevision: string): Write => ({ kind: 'add', visitId: 'v', technicianId, expectedRevision, notify: false });
  const writes: Write[] = [add('ada', 'r0'), { kind: 'remove', visitId: 'v', assignmentId: 'a1', expectedRevision: 'r1', notify: true }, add('bo', 'r0')];
  const history = [
    attempt('k1', writes[0]!, 0, created('a1', 'r1')),
    attempt('k2', writes[1]!, 2, { status: 200, replayed: false, revision: 'r0', said: 'removed' }),
    attempt('k3', writes[2]!, 4, created('a3', 'r3')),
  ];
  const visitEvents = [visitEvent(1, true, 'a1', 'ada', 'r1'), visitEvent(2, false, 'a1', 'ada', 'r0'), visitEvent(3, true, 'a3', 'bo', 'r3')];
  const before: StoredVisit = { id: 'v', revision: 'r0', sequence: 0, assignments: new Map() };
  return {
    history,
    observed: {
      before: [before],
      visits: [{ id: 'v', revision: 'r3', sequence: 3, assignments: new Map([['a3', 'bo']]) }],
      assignments: [{ id: 'a3', visitId: 'v', technicianId: 'bo', document: 'd3' }],
      keys: [
        { key: 'k1', status: 201, location: '/v1/job-assignments/a1', visitId: 'v', revision: 'r1' },
        { key: 'k2', status: 200, location: null, visitId: 'v', revision: 'r0' },
        { key: 'k3', status: 201, location: '/v1/job-assignments/a3', visitId: 'v', revision: 'r3' },
      ],
      requests: [{ id: 's', visitId: 'v', status: SCHEDULED!, sequence: 6 }],
      notifications: [{ id: 'n', visitId: 'v', revision: 'r0', status: 'SUPPRESSED' }],
      visitEvents,
      assignmentEvents: [stateEvent(1, 'a1', 'd1'), stateEvent(2, 'a1', null), stateEvent(3, 'a3', 'd3')],
      requestEvents: [
        requestEvent(1, 'created', NEW),
        requestEvent(2, 'status_changed', BOOKED, NEW),
        requestEvent(3, 'booked', BOOKED),
        requestEvent(4, 'status_changed', SCHEDULED, BOOKED),
        requestEvent(5, 'status_changed', BOOKED, SCHEDULED),
        requestEvent(6, 'status_changed', SCHEDULED, BOOKED),
      ],
      unreadable: 0,
      unpublished: 0,
      wrongReadModels: [],
    },
  };
}

const attempt = (key: string, write: Write, invokedAt: number, answer?: Answer): Attempt => ({ key, write, invokedAt, endedAt: invokedAt + 1, answer });
const created = (id: string, revision: string): Answer => ({
  status: 201,
  replayed: false,
  location: `/v1/job-assignments/${id}`,
  revision,
  said: `with ${id}`,
});

function published(id: string, key: string, version: number): PublishedEvent {
  return { id, type: 'changed', key: `${COMPANY}/${key}`, sequence: undefined, version, partition: 0, payload: id };
}

function visitEvent(sequence: number, added: boolean, assignmentId: string, technicianId: string, revision: string): VisitEvent {
  const type = added ? 'visit.assignment_added' : 'visit.assignment_removed';
  return { ...published(`e${sequence}`, 'v', sequence), type, sequence, visitId: 'v', added, assignmentId, technicianId, revision };
}

const stateEvent = (version: number, id: string, payload: string | null): PublishedEvent => ({ ...published(`t${version}`, id, version), payload });

function requestEvent(sequence: number, type: string, status?: string, previous?: string): RequestEvent {
  return { ...published(`q${sequence}`, 's', sequence), type: `service_request.${type}`, sequence, subject: 's', status, previous };
}

function found(change: (story: { history: Attempt[]; observed: Observed }) => { history?: Attempt[]; observed?: Partial<Observed> }): string[] {
  const base = story();
  const { history = base.history, observed = {} } = change(base);
  return [...new Set(check(history, { ...base.observed, ...observed }).violations.map(({ kind }) => kind))];
}

const without = <T>(items: readonly T[], index: number): T[] => items.toSpliced(index, 1);

test('passes a correct history and counts it', () => {
  const { history, observed } = story();
  const { violations, counts } = check(history, observed);
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ writes: 3, acknowledged: 3, refused: 0, indefinite: 0, effects: 3, events: 12, duplicates: 0 });
});

describe('allows', () => {
  test('a repeated event', () => {
    expect(found(({ observed }) => ({ observed: { visitEvents: [...observed.visitEvents, observed.visitEvents[2]!] } }))).toEqual([]);
  });

  test('an unanswered write, whether it was made or not', () => {
    expect(found(({ history }) => ({ history: history.map((one) => (one.key === 'k3' ? { ...one, answer: undefined } : one)) }))).toEqual([]);
    expect(found(({ history }) => ({ history: [...history, attempt('k4', history[2]!.write, 4)] }))).toEqual([]);
  });

  test('a repeated request with the same answer', () => {
    expect(
      found(({ history }) => ({ history: [...history, { ...history[2]!, invokedAt: 6, endedAt: 7, answer: { ...history[2]!.answer!, replayed: true } }] })),
    ).toEqual([]);
  });

  test('a refusal for a state that the visit had during the attempt', () => {
    const stale: Answer = { status: 409, replayed: false, code: 'STALE_REVISION', currentRevision: 'r1' };
    expect(found(({ history }) => ({ history: [...history, attempt('k4', history[2]!.write, 1.5, stale)] }))).toEqual([]);
  });
});

describe('finds', () => {
  test('an acknowledged write without an effect', () => {
    expect(found(({ observed }) => ({ observed: { visitEvents: without(observed.visitEvents, 2) } }))).toContain('acknowledged-without-effect');
  });

  test('an event that no write caused', () => {
    expect(found(({ observed }) => ({ observed: { visitEvents: [...observed.visitEvents, visitEvent(4, true, 'a4', 'cy', 'r4')] } }))).toContain(
      'event-without-write',
    );
  });

  test('one key that was carried out twice', () => {
    const kinds = found(({ history, observed }) => ({
      history: [...history, attempt('k3', { ...history[2]!.write, visitId: 'v', expectedRevision: 'r3' }, 4, created('a4', 'r4'))],
      observed: { visitEvents: [...observed.visitEvents, visitEvent(4, true, 'a4', 'cy', 'r4')] },
    }));
    expect(kinds).toEqual(expect.arrayContaining(['two-effects-of-a-key', 'answers-differ', 'executed-twice']));
  });

  test('an effect without a stored key, and a stored key without an effect', () => {
    expect(found(({ observed }) => ({ observed: { keys: without(observed.keys, 0) } }))).toEqual(['effect-without-key']);
    const stray = { key: 'k9', status: 201, location: '/v1/job-assignments/a9', visitId: 'v', revision: 'r9' };
    expect(found(({ observed }) => ({ observed: { keys: [...observed.keys, stray] } }))).toEqual(['key-without-effect']);
  });

  test('a repeated request with a different answer', () => {
    const other = { ...created('a3', 'r3'), said: 'something else', replayed: true };
    expect(found(({ history }) => ({ history: [...history, attempt('k3', history[2]!.write, 6, other)] }))).toEqual(['answers-differ']);
  });

  test('a refusal after the key had its effect, and one that no state explains', () => {
    const known: Answer = { status: 409, replayed: false, code: 'ASSIGNMENT_CONFLICT', reason: 'ALREADY_ASSIGNED' };
    expect(found(({ history }) => ({ history: [...history, attempt('k3', history[2]!.write, 6, known)] }))).toEqual(['refusal-unexplained']);
    const stale: Answer = { status: 409, replayed: false, code: 'STALE_REVISION', currentRevision: 'r7' };
    expect(found(({ history }) => ({ history: [...history, attempt('k4', history[2]!.write, 6, stale)] }))).toEqual(['refusal-unexplained']);
    const missing: Answer = { status: 404, replayed: false, code: 'NOT_FOUND' };
    expect(found(({ history }) => ({ history: [...history, attempt('k4', history[1]!.write, 1.1, missing)] }))).toEqual([]);
    expect(found(({ history }) => ({ history: [...history, attempt('k2', history[1]!.write, 1.1, missing)] }))).toEqual(['refusal-unexplained']);
  });

  test('an answer that a working system does not give', () => {
    const broken: Answer = { status: 500, replayed: false, code: 'INTERNAL_ERROR' };
    expect(found(({ history }) => ({ history: [...history, attempt('k4', history[2]!.write, 6, broken)] }))).toEqual(['unexpected-answer']);
  });

  test('events that are missing, out of order, or different when repeated', () => {
    expect(
      found(
        ({
          observed: {
            visitEvents: [one, , three],
          },
        }) => ({ observed: { visitEvents: [one!, three!] } }),
      ),
    ).toContain('sequence-broken');
    expect(
      found(
        ({
          observed: {
            visitEvents: [one, two, three],
          },
        }) => ({ observed: { visitEvents: [one!, three!, two!] } }),
      ),
    ).toContain('sequence-broken');
    expect(found(({ observed }) => ({ observed: { visitEvents: [...observed.visitEvents, { ...observed.visitEvents[0]!, payload: 'other' }] } }))).toEqual([
      'duplicate-differs',
    ]);
  });

  test('a write that started from another revision than the previous write made', () => {
    const late = ({ history }: { history: Attempt[] }): Attempt[] =>
      history.map((one) => (one.key === 'k3' ? { ...one, write: { ...one.write, expectedRevision: 'r1' } } : one));
    expect(found((base) => ({ history: late(base) }))).toEqual(['stale-write']);
  });

  test('writes in a different order than clients saw them', () => {
    const swapped = ({ history }: { history: Attempt[] }): Attempt[] =>
      history.map((one) => ({ ...one, invokedAt: 10 - one.invokedAt, endedAt: 11 - one.invokedAt }));
    expect(found((base) => ({ history: swapped(base) }))).toEqual(['order-against-time']);
  });

  test('tables and topics that differ from the sum of the events', () => {
    const lost = { id: 'v', revision: 'r3', sequence: 2, assignments: new Map<string, string>() };
    expect(found(() => ({ observed: { visits: [lost] } }))).toEqual(['visit-differs-from-events']);
    expect(found(() => ({ observed: { visits: [] } }))).toEqual(['visit-differs-from-events']);
    expect(
      found(({ observed }) => ({ observed: { assignments: [...observed.assignments, { id: 'a8', visitId: 'v', technicianId: 'cy', document: 'd8' }] } })),
    ).toEqual(['assignment-differs-from-events', 'state-topic-differs']);
    expect(
      found(
        ({
          observed: {
            assignmentEvents: [one, two, three],
          },
        }) => ({ observed: { assignmentEvents: [one!, two!, three!, one!] } }),
      ),
    ).toEqual(['state-topic-differs']);
  });

  test('a service request that did not follow its visit', () => {
    expect(found(({ observed }) => ({ observed: { requestEvents: observed.requestEvents.slice(0, -1) } }))).toEqual(['service-request-differs']);
    expect(
      found(
        ({
          observed: {
            requests: [one],
          },
        }) => ({ observed: { requests: [{ ...one!, status: BOOKED! }] } }),
      ),
    ).toEqual(['service-request-differs']);
    expect(
      found(({ observed }) => ({
        observed: { requestEvents: [...observed.requestEvents, { ...requestEvent(1, 'created', NEW), id: 'x', key: `${COMPANY}/x`, subject: 'x' }] },
      })),
    ).toEqual(['service-request-differs']);
  });

  test('messages to customers that are missing or superfluous', () => {
    expect(found(() => ({ observed: { notifications: [] } }))).toEqual(['notification-differs']);
    expect(
      found(
        ({
          observed: {
            notifications: [one],
          },
        }) => ({ observed: { notifications: [one!, { ...one!, id: 'm' }] } }),
      ),
    ).toEqual(['notification-differs']);
    expect(
      found(
        ({
          observed: {
            notifications: [one],
          },
        }) => ({ observed: { notifications: [{ ...one!, status: 'SENT' }] } }),
      ),
    ).toEqual(['notification-differs']);
  });

  test('unpublished events and unreadable messages', () => {
    expect(found(() => ({ observed: { unpublished: 1 } }))).toEqual(['event-unpublished']);
    expect(found(() => ({ observed: { unreadable: 1 } }))).toEqual(['message-unreadable']);
    expect(found(() => ({ observed: { wrongReadModels: ['jobs j: missing'] } }))).toEqual(['read-model-differs']);
  });
});
