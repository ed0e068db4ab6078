import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codec, firstUnknown, publicEvents, shapeNamed } from '../src/index.ts';
import { ServiceRequestStatusChanged } from '../src/gen/truckroll/events/v1/public_events.ts';

const SCRIPT = join(import.meta.dirname, '../../../scripts/derive-protos.mjs');
const SOURCE = join(import.meta.dirname, '../../../proto/truckroll/scheduling/v1/service_requests.proto');

test('a status change carries every field of a service request, and the previous status', () => {
  const [request, changed] = [shapeNamed('truckroll.scheduling.v1.ServiceRequest'), shapeNamed('truckroll.events.v1.ChangedServiceRequest')];
  const plain = (fields: typeof changed.fields) =>
    fields.map(({ name, number, kind, nullable, format, refersTo, doc }) => ({ name, number, kind, nullable, format, refersTo, doc }));
  expect(plain(changed.fields.filter(({ name }) => name !== 'previous_status'))).toEqual(plain(request.fields));
  expect(changed.byName.get('previous_status')).toMatchObject({ number: 22, kind: 'enum' });
});

test('a field added to the service request is added to the status change automatically', async () => {
  const { changedServiceRequest } = (await import(SCRIPT)) as { changedServiceRequest(source: string): string };
  const source = readFileSync(SOURCE, 'utf8');
  const added = source.replace(
    '  // When it last changed.\n',
    '  // Why it was opened again.\n  optional ServiceRequestChannel reopened_by = 23;\n  // When it last changed.\n',
  );
  expect(changedServiceRequest(added)).toContain('  // Why it was opened again.\n  optional truckroll.scheduling.v1.ServiceRequestChannel reopened_by = 23;\n');
  expect(() => changedServiceRequest(source.replace('reserved 22;', ''))).toThrow('must reserve 22');
});

test('every public event declares its type in an option of its message', () => {
  expect(publicEvents.map(({ type, body }) => [type, body.typeName.split('.').at(-1)])).toEqual([
    ['service_request.created', 'ServiceRequestCreated'],
    ['service_request.status_changed', 'ServiceRequestStatusChanged'],
    ['service_request.booked', 'ServiceRequestBooked'],
    ['interaction.completed', 'InteractionCompleted'],
    ['webhook.test', 'WebhookTest'],
  ]);
});

describe('firstUnknown, in a message of a newer release', () => {
  const { body } = publicEvents.find(({ type }) => type === 'service_request.status_changed')!;
  const empty = codec(body.typeName).decode(new Uint8Array()) as ServiceRequestStatusChanged;
  const data = codec('truckroll.events.v1.ChangedServiceRequest').decode(new Uint8Array()) as NonNullable<ServiceRequestStatusChanged['data']>;
  const known = Buffer.from(
    ServiceRequestStatusChanged.encode({
      ...empty,
      id: 'x',
      timestamp: 1e15,
      sequence: 3,
      data: { ...data, number: 'SR-1', status: 'SERVICE_REQUEST_STATUS_BOOKED', account: { id: 'a', name: 'b' }, created_at: 5 },
    }).finish(),
  );
  /** Protobuf merges a message field that occurs twice. */
  const within = (number: number, bytes: number[]) => [number * 8 + 2, bytes.length, ...bytes];

  test.each<[string, number[], string | undefined]>([
    ['everything that is known is known', [], undefined],
    ['a field is found', [15 * 8, 1], '#15'],
    ['a field of its data is found', within(6, [0xf2, 0x01, 1, 65]), 'data.#30'],
    ['a field of what its data refers to is found', within(6, within(6, [7 * 8 + 2, 0])), 'data.account.#7'],
    ['a value of an enumeration is found', within(6, [3 * 8, 9]), 'data.status = 9'],
    ['a value that is known is not', within(6, [3 * 8, 7]), undefined],
  ])('%s', (_, added, expected) => {
    expect(firstUnknown(body, Buffer.concat([known, Buffer.from(added)]))).toBe(expected);
  });

  test('rejects bytes that are not a message', () => {
    expect(() => firstUnknown(body, Buffer.from([0xff, 0xff]))).toThrow();
  });
});
