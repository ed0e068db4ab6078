import type { KafkaMessage } from 'kafkajs';
import { eventOf, messageOf, type OutboxRow } from '../src/event.ts';

const row: OutboxRow = {
  id: 42,
  event_id: 'd3b07384-d9a0-4c3b-8a57-0d4f4d2a1f10',
  topic: 't',
  key: 'company/subject',
  type: 'thing.changed',
  company_id: '0b5f3c1e-1111-4222-8333-444455556666',
  sequence: 7,
  trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  request_id: '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11',
  people: '0b5f3c1e-1111-4222-8333-444455556677 0b5f3c1e-1111-4222-8333-444455556688',
  payload: Buffer.from([0, 255, 1]),
  created_at: 1772377505123456,
};

function received(sent: ReturnType<typeof messageOf>): KafkaMessage {
  const headers = Object.fromEntries(Object.entries(sent.headers ?? {}).map(([name, value]) => [name, Buffer.from(String(value))]));
  return { key: Buffer.from(sent.key as string), value: sent.value as Buffer | null, headers, offset: '5', timestamp: '0', attributes: 0 };
}

test('encodes an event as a CloudEvent in binary mode', () => {
  expect(messageOf(row, '/truckroll/trial')).toEqual({
    key: 'company/subject',
    value: row.payload,
    headers: {
      'content-type': 'application/protobuf',
      ce_specversion: '1.0',
      ce_id: row.event_id,
      ce_type: 'thing.changed',
      ce_source: '/truckroll/trial',
      ce_subject: 'company/subject',
      ce_time: '2026-03-01T15:05:05.123456Z',
      ce_companyid: row.company_id,
      ce_version: '42',
      ce_sequence: '7',
      traceparent: row.trace,
      ce_requestid: row.request_id,
      ce_people: row.people,
    },
  });
});

test('decodes the event that was encoded', () => {
  expect(eventOf('t', 2, received(messageOf(row, '/truckroll/trial')))).toEqual({
    id: row.event_id,
    type: row.type,
    source: '/truckroll/trial',
    companyId: row.company_id,
    key: row.key,
    time: row.created_at,
    sequence: 7,
    version: 42,
    payload: row.payload,
    topic: 't',
    partition: 2,
    offset: '5',
    trace: row.trace,
    requestId: row.request_id,
    people: row.people,
  });
  const bare = { ...row, sequence: null, trace: null, request_id: null, people: null, payload: null };
  expect(eventOf('t', 0, received(messageOf(bare, '/s')))).toMatchObject({ sequence: undefined, trace: undefined, people: undefined, payload: null });
});

test('ignores an invalid request id or trace and still decodes the event', () => {
  const message = received(messageOf({ ...row, trace: '00-zz', request_id: 'none' }, '/s'));
  expect(eventOf('t', 0, message)).toMatchObject({ id: row.event_id, trace: undefined, requestId: undefined });
});

test.each(['ce_id', 'ce_type', 'ce_source', 'ce_companyid', 'ce_time', 'ce_version'])('does not decode a message without %s', (name) => {
  const message = received(messageOf(row, '/s'));
  delete message.headers![name];
  expect(eventOf('t', 0, message)).toBeUndefined();
});

test('does not decode a message with an invalid id or without a key', () => {
  const message = received(messageOf(row, '/s'));
  expect(eventOf('t', 0, { ...message, key: null })).toBeUndefined();
  message.headers!['ce_id'] = 'one';
  expect(eventOf('t', 0, message)).toBeUndefined();
});

test('decodes versions of up to 15 digits, which the epochs after restores need, and no longer ones', () => {
  const versionOf = (ce_version: string) => {
    const message = received(messageOf(row, '/s'));
    message.headers!['ce_version'] = ce_version;
    return eventOf('t', 0, message)?.version;
  };
  expect(['999000000000001', '1000000000000000', '-1', '1.5', ''].map(versionOf)).toEqual([999_000_000_000_001, undefined, undefined, undefined, undefined]);
});
