import { readRequestId, readTraceparent, requestOf, traceIdOf } from '../src/request-context.ts';

const ID = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c1a';
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('reads a request id in its lowercase form only, in which logs and traces are searched', () => {
  expect([ID, ID.toUpperCase(), ID.replaceAll('-', ''), '', undefined, null].map(readRequestId)).toEqual([ID, ...Array.from({ length: 5 }, () => undefined)]);
});

test.each([
  ['of another version', TRACE.replace(/^00/, '01')],
  ['in capitals', TRACE.toUpperCase()],
  ['without a trace', TRACE.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32))],
  ['without a span', TRACE.replace('b7ad6b7169203331', '0'.repeat(16))],
  ['with more behind it', `${TRACE}-00`],
])('reads no trace context %s', (_, text) => {
  expect(readTraceparent(TRACE)).toBe(TRACE);
  expect(readTraceparent(text)).toBeUndefined();
});

test('leads from a request to its trace, which is the request itself where no trace was started', () => {
  expect(traceIdOf({ requestId: ID, traceparent: TRACE })).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(traceIdOf({ requestId: ID, traceparent: undefined })).toBe(ID.replaceAll('-', ''));
});

test('restores the request of an event, without a malformed trace, and none without a request id', () => {
  expect(requestOf(ID, TRACE)).toEqual({ requestId: ID, traceparent: TRACE });
  expect(requestOf(ID, 'malformed')).toEqual({ requestId: ID, traceparent: undefined });
  expect(requestOf(ID, null)).toEqual({ requestId: ID, traceparent: undefined });
  expect([requestOf(null, TRACE), requestOf('malformed', TRACE)]).toEqual([undefined, undefined]);
});
