import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import type { DeadLetter, FanOutRequest, LeaseRequest, LeasedDelivery, PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import { createLog, createMetrics, currentRequest } from '@truckroll/telemetry';
import { createConsumer } from '../src/events/consume.ts';
import { eventOf, letterOf } from '../src/events/dead-letters.ts';
import type { Intake } from '../src/queue/worker.ts';
import { leased } from './support/worker.ts';

const COMPANY = randomUUID();
const incoming = (name: string, fields: Partial<IncomingEvent> = {}): IncomingEvent => ({
  id: name,
  type: 'interaction.completed',
  source: '/truckroll/scheduling',
  companyId: COMPANY,
  key: `${COMPANY}/${name}`,
  time: 0,
  sequence: 1,
  version: 1,
  payload: Buffer.from(name),
  topic: 't',
  partition: 0,
  offset: '7',
  trace: undefined,
  requestId: undefined,
  ...fields,
});
const read = ({ id, type, companyId, sequence, payload, requestId, trace }: IncomingEvent): PublicEvent => {
  if (type === 'unknown') throw new Error('this release does not know the type');
  return { id, type, company_id: companyId, subject: id, sequence: sequence!, timestamp: 0, body: payload!, request_id: requestId, traceparent: trace };
};
const letter = (id: number, name: string, fields: Partial<IncomingEvent> = {}): DeadLetter => ({ ...letterOf(incoming(name, fields), 'x'), id });

/** A consumer that stores at once, all or `take` of what it is given, with a fanOut that the test may have refuse. */
function scene({
  refuses = () => undefined,
  leases = [],
  take,
}: {
  refuses?: (request: FanOutRequest) => Error | undefined;
  leases?: LeasedDelivery[];
  take?: number;
} = {}) {
  const calls: { events: string[]; letters: readonly number[]; lease: LeaseRequest | null | undefined; request: string | undefined }[] = [];
  const kept: DeadLetter[] = [];
  const sent: LeasedDelivery[] = [];
  const waited: boolean[] = [];
  const lines: Record<string, unknown>[] = [];
  const metrics = createMetrics('test');
  const request = { worker_id: 'test' } as LeaseRequest;
  const consumer = createConsumer({
    fanOut: async (asked) => {
      calls.push({ events: asked.events.map(({ id }) => id), letters: asked.dead_letter_ids, lease: asked.lease, request: currentRequest()?.requestId });
      const error = refuses(asked);
      if (error !== undefined) throw error;
      return { pending: asked.events.length, skipped: 0, deliveries: leases };
    },
    setAside: async ({ letters }) => (kept.push(...letters), {}),
    read,
    store: async ({ events, waits, store }: Intake) => {
      waited.push(waits);
      const count = Math.min(take ?? events, events);
      sent.push(...(await store(count, request)).deliveries);
      return count;
    },
    log: createLog('trial', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
    metrics,
  });
  const counted = async () =>
    [...(await metrics.render()).body.matchAll(/webhook_events_total\{result="(\w+)",.*\} (\d+)/g)]
      .map(([, result, count]) => [result, Number(count)])
      .toSorted();
  return { ...consumer, calls, kept, sent, waited, lines, request, counted };
}
const invalid = (name: string) => (asked: FanOutRequest) => (asked.events.some(({ id }) => id === name) ? ApiError.invalid([]) : undefined);

test('sends what it leases with the type, body, request and trace of its event, and leaves out what is for no event of the batch', async () => {
  const own = { ...leased('e'), event_id: 'a', event_type: '', body: Buffer.alloc(0) };
  const { handle, sent, calls, request, waited, counted } = scene({ leases: [own, { ...leased('e'), event_id: 'another' }] });
  const requestId = randomUUID();
  await handle([incoming('a', { requestId })]);
  expect(sent).toEqual([{ ...own, event_type: 'interaction.completed', body: Buffer.from('a'), request_id: requestId, traceparent: undefined }]);
  expect(calls).toEqual([{ events: ['a'], letters: [], lease: request, request: requestId }]);
  expect([waited, await counted()]).toEqual([[true], [['stored', 1]]]);
});

test('stores events in order, as many at a time as the worker takes, several of them on behalf of no request', async () => {
  const { handle, calls, counted } = scene({ take: 2 });
  await handle(['a', 'b', 'c', 'd', 'e'].map((name) => incoming(name, { requestId: randomUUID() })));
  expect(calls.map(({ events }) => events.join(''))).toEqual(['ab', 'cd', 'e']);
  expect(calls.map(({ request }) => request)).toEqual([undefined, undefined, undefined]);
  expect(await counted()).toEqual([['stored', 5]]);
});

test('keeps events that it does not know before it stores others, and logs each of those under its own request', async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const order: string[] = [];
  const { handle, lines, kept, counted } = scene({ refuses: () => void order.push(`${kept.length} kept`) });
  const unknown = { type: 'unknown' };
  await handle([incoming('a', { requestId: first }), incoming('x', unknown), incoming('y', unknown), incoming('b', { requestId: second })]);
  expect(lines.filter(({ level }) => level === 'info')).toMatchObject([
    { event: 'a', type: 'interaction.completed', companyId: COMPANY, subject: 'a', requestId: first },
    { event: 'b', requestId: second },
  ]);
  expect([order, kept.map(({ event_id: id }) => id), await counted()]).toEqual([
    ['2 kept'],
    ['x', 'y'],
    [
      ['set_aside', 2],
      ['stored', 2],
    ],
  ]);
});

test('keeps the one event of a batch that is refused, with its offset and the reason, and stores the others in order', async () => {
  const { handle, calls, kept, counted, lines } = scene({ refuses: invalid('b') });
  await handle(['a', 'b', 'c'].map((name) => incoming(name)));
  expect(calls.map(({ events }) => events.join(''))).toEqual(['abc', 'a', 'b', 'c']);
  expect(kept).toMatchObject([{ event_id: 'b', log_offset: '7', company_id: COMPANY, reason: expect.stringContaining('not valid') }]);
  expect(await counted()).toEqual([
    ['set_aside', 1],
    ['stored', 2],
  ]);
  expect(lines).toMatchObject([{ level: 'warn', id: 'b', type: 'interaction.completed' }, { event: 'a' }, { event: 'b' }, { event: 'c' }]);
});

test.each([
  ['integrations is unavailable', ApiError.unavailable(undefined)],
  ['integrations refuses them for a passing reason', new ApiError('RATE_LIMITED', 'Too many calls.', { status: 429 })],
  ['the call fails in an unexpected way', new Error('no idea')],
])('keeps nothing and rejects while %s', async (_, error) => {
  const { handle, kept, calls } = scene({ refuses: () => error });
  await expect(handle([incoming('a'), incoming('b')])).rejects.toBe(error);
  expect([kept, calls.length]).toEqual([[], 1]);
});

test('resumes the dead letters that it can read, each with its own id, and leaves a refused one', async () => {
  const { resume, calls, kept, counted, waited, lines } = scene({ refuses: invalid('b') });
  await resume([letter(1, 'a'), letter(2, 'x', { type: 'unknown' }), letter(3, 'b'), letter(4, 'c')]);
  expect(calls.map(({ events, letters }) => [events.join(''), ...letters])).toEqual([
    ['abc', 1, 3, 4],
    ['a', 1],
    ['b', 3],
    ['c', 4],
  ]);
  expect([kept, new Set(waited), await counted()]).toEqual([[], new Set([false]), [['resumed', 2]]]);
  expect(lines).toMatchObject([{ level: 'warn', id: 'b', msg: 'a dead letter is refused and stays' }]);
});

test.each([
  ['every attribute', incoming('a', { trace: '00-trace', requestId: 'request', sequence: 0, people: 'ana bo' })],
  ['no optional attribute', incoming('a', { sequence: undefined, payload: null })],
])('restores an event with %s from its dead letter', (_, event) => {
  const kept = letterOf(event, new Error('no room'));
  expect(kept).toMatchObject({ id: 0, reason: 'no room' });
  expect(eventOf(kept)).toEqual({ ...event, id: 'a', sequence: event.sequence });
});

test('shortens the reason of a dead letter to 2000 characters, whatever was thrown', () => {
  expect([new Error('x'.repeat(3000)), 'text', null].map((thrown) => letterOf(incoming('a'), thrown).reason)).toEqual(['x'.repeat(2000), 'text', 'null']);
});
