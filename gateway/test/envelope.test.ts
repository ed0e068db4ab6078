import fc from 'fast-check';
import { JsonBuffer, codec, operations, type Field, type Operation } from '@truckroll/contract';
import { ListInvoicesResponse, type Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { ListAuditEventsResponse } from '@truckroll/contract/gen/integrations/v1/audit';
import type { GetCollectionsReportResponse } from '@truckroll/contract/gen/reporting/v1/collections_report';
import { AddAssignmentResponse } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { ListServiceRequestsResponse } from '@truckroll/contract/gen/scheduling/v1/intake_lists';
import { compileEnvelope } from '../src/http/envelope.ts';
import { invoice } from './support/invoice.ts';
import { operation } from './support/operation.ts';

const meta = (timeZone = 'America/Chicago'): string => `{"request_id":"r","timezone":"${timeZone}"}`;

const seal = (position: Uint8Array, of = 'this list'): string => `${Buffer.from(position).toString()} of ${of}`;

function text(of: Operation, bytes: Uint8Array): string {
  const out = new JsonBuffer(16);
  compileEnvelope(of)(Buffer.from(bytes), { meta, seal }, out);
  return out.view().toString();
}

const write = (of: Operation, bytes: Uint8Array): any => JSON.parse(text(of, bytes));

test('writes every record of a page in order, whatever its text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 100 }), fc.stringMatching(/^[a-z]{0,8}$/), (numbers, position) => {
      const bytes = ListInvoicesResponse.encode({ data: numbers.map((number) => invoice({ number })), next: Buffer.from(position) }).finish();
      const page = write(operation('ListInvoices'), bytes);
      expect(Object.keys(page)).toEqual(['data', 'pagination', 'meta']);
      expect(page.data.map(({ number }: Invoice) => number)).toEqual(numbers);
      expect(page.pagination.next_cursor).toBe(position === '' ? null : `${position} of this list`);
    }),
    { numRuns: 50 },
  );
});

test('accepts fields in any order on the wire, and leaves out unknown ones', () => {
  const data = ListInvoicesResponse.encode({ data: [invoice({ number: 'A' })], next: Buffer.alloc(0) }).finish();
  const next = ListInvoicesResponse.encode({ data: [], next: Buffer.from('n') }).finish();
  // Field 15 with three bytes.
  const unknown = Buffer.from([15 * 8 + 2, 3, 1, 2, 3]);
  const page = write(operation('ListInvoices'), Buffer.concat([next, unknown, data, data]));
  expect(page.data).toHaveLength(2);
  expect(page.pagination.next_cursor).toBe('n of this list');
  expect(page.meta).toEqual({ request_id: 'r', timezone: 'America/Chicago' });
});

test('writes other objects of a response as keys next to data', () => {
  const data = codec('truckroll.scheduling.v1.Visit').decode(new Uint8Array()) as never;
  const bytes = AddAssignmentResponse.encode({ data, notification: { status: 'NOTIFICATION_STATUS_QUEUED' } }).finish();
  expect(Object.keys(write(operation('AddAssignment'), bytes))).toEqual(['data', 'notification', 'meta']);
});

test('writes camel case and no meta under /api/v1, and records with the keys of the change feed', () => {
  const empty = (typeName: string): never => codec(typeName).decode(new Uint8Array()) as never;
  const next = Buffer.from('n');
  const events = ListAuditEventsResponse.encode({ data: [empty('truckroll.integrations.v1.AuditEvent')], next }).finish();
  const requests = ListServiceRequestsResponse.encode({ data: [empty('truckroll.scheduling.v1.ServiceRequest')], next }).finish();
  const pages = [write(operation('ListAuditEvents'), events), write(operation('ListServiceRequests'), requests)];
  for (const page of pages) expect([Object.keys(page), page.pagination.nextCursor]).toEqual([['data', 'pagination'], 'n of this list']);
  expect(pages.map(({ data }) => Object.keys(data[0]).find((key) => /request_?id|contact_?name/i.test(key)))).toEqual(['requestId', 'contact_name']);
});

test('fails on an answer that lacks its record or is cut short', () => {
  const whole = ListInvoicesResponse.encode({ data: [invoice()], next: Buffer.alloc(0) }).finish();
  expect(() => write(operation('GetInvoice'), new Uint8Array())).toThrow(/data came 0 times/);
  expect(() => write(operation('ListInvoices'), whole.subarray(0, -1))).toThrow(/too early/);
  expect(() => write(operation('ListInvoices'), Buffer.of(8, 1))).toThrow(/something other/);
});

test('writes pages in either spelling, with meta under /v1 only', () => {
  const bytes = ListInvoicesResponse.encode({ data: [], next: Buffer.from('n') }).finish();
  const list = operation('ListInvoices');
  expect(text(list, bytes)).toBe('{"data":[],"pagination":{"next_cursor":"n of this list"},"meta":{"request_id":"r","timezone":"America/Chicago"}}');
  expect(text({ ...list, camelCase: true }, bytes)).toBe('{"data":[],"pagination":{"nextCursor":"n of this list"}}');
  expect(text({ ...list, camelCase: true }, new Uint8Array())).toBe('{"data":[],"pagination":{"nextCursor":null}}');
  expect(text(operation('ListApiKeys'), new Uint8Array())).toBe('{"data":[]}');
});

test.each([
  ['/v1', false, 8_000_000],
  ['/api/v1', true, 1_000_000],
])('ends a page under %s before the record that makes it too large, but not before its first', (_, camel, most) => {
  const of = { ...operation('ListInvoices'), camelCase: camel };
  const page = (sizes: number[]): Buffer =>
    Buffer.from(ListInvoicesResponse.encode({ data: sizes.map((size) => invoice({ number: 'x'.repeat(size) })), next: Buffer.alloc(0) }).finish());
  const fitting = (...sizes: number[]): number | undefined => compileEnvelope(of)(page(sizes), { meta, seal }, new JsonBuffer(16));
  /** Length of the number in one of `count` records, the others empty, with which a page has exactly the most bytes. */
  const longest = (count: number): number => most - text(of, page(Array(count).fill(0))).indexOf('],"pagination"');
  expect(fitting(most)).toBeUndefined();
  expect(fitting(longest(2), 0)).toBeUndefined();
  expect(fitting(longest(2), 1)).toBe(1);
  expect(fitting(0, longest(3), 1)).toBe(2);
});

test('writes a report with its parameters as a key and its time zone in meta', () => {
  const response = codec('truckroll.reporting.v1.GetCollectionsReportResponse');
  const page = { ...(response.decode(new Uint8Array()) as GetCollectionsReportResponse), time_zone: 'America/Denver' };
  const report = codec('truckroll.reporting.v1.CollectionsReport').decode(new Uint8Array()) as GetCollectionsReportResponse['report'];
  const answer = write(operation('GetCollectionsReport'), response.encode({ ...page, report }).finish());
  expect(Object.keys(answer)).toEqual(['data', 'report', 'pagination', 'meta']);
  expect(answer.meta).toEqual({ request_id: 'r', timezone: 'America/Denver' });
});

test('spells the keys of other objects as the operation does', () => {
  const of = operation('AddAssignment');
  const [data, notification] = of.response.fields as [Field, Field];
  const renamed = { ...of, camelCase: true, response: { ...of.response, fields: [data, { ...notification, name: 'customer_notification' }] } };
  const bytes = Buffer.concat([Buffer.of(8 + 2, 0), Buffer.of(16 + 2, 0)]);
  expect(text(renamed, bytes)).toMatch(/^\{"data":\{.*\},"customerNotification":\{"status":.*\}\}$/);
});

test('seals a position in the list of another operation for that operation, each answer with its own seal', () => {
  const response = codec('truckroll.integrations.v1.GetWebhookDeliveryResponse');
  const detail = codec('truckroll.integrations.v1.WebhookDelivery').decode(new Uint8Array()) as object;
  const bytes = Buffer.from(response.encode({ data: { ...detail, attempts_next_cursor: Buffer.from('a') } }).finish());
  const envelope = compileEnvelope(operation('GetWebhookDelivery'));
  const cursor = (company: string): string => {
    const out = new JsonBuffer(16);
    envelope(bytes, { meta, seal: (position, of) => `${company} ${seal(position, of)}` }, out);
    return JSON.parse(out.view().toString()).data.attemptsNextCursor;
  };
  expect(cursor('first')).toBe('first a of ListWebhookDeliveryAttempts');
  expect(cursor('second')).toBe('second a of ListWebhookDeliveryAttempts');
});

test('writes null for an object that may be absent, and fails without one that may not', () => {
  const of = operation('AddAssignment');
  const data = Buffer.of(8 + 2, 0);
  expect(() => text(of, data)).toThrow('truckroll.scheduling.v1.AddAssignmentResponse.notification came 0 times');
  const fields = of.response.fields.map((field) => ({ ...field, nullable: field.name === 'notification' }));
  expect(write({ ...of, response: { ...of.response, fields } }, data).notification).toBeNull();
});

test('fails on an object that came twice', () => {
  const notification = Buffer.of(16 + 2, 0);
  expect(() => text(operation('AddAssignment'), Buffer.concat([Buffer.of(8 + 2, 0), notification, notification]))).toThrow('notification came 2 times');
  const optional = operation('AddAssignment').response.fields.map((field) => ({ ...field, nullable: true }));
  const of = { ...operation('AddAssignment'), response: { ...operation('AddAssignment').response, fields: optional } };
  expect(() => text(of, Buffer.concat([Buffer.of(8 + 2, 0), notification, notification]))).toThrow('notification came 2 times');
});

test('keeps nothing of one answer for the next', () => {
  const envelope = compileEnvelope(operation('ListInvoices'));
  const page = (numbers: string[], next: string, request: string): string => {
    const out = new JsonBuffer(16);
    const bytes = ListInvoicesResponse.encode({ data: numbers.map((number) => invoice({ number })), next: Buffer.from(next) }).finish();
    envelope(Buffer.from(bytes), { meta: () => `"${request}"`, seal: (position) => `${request}-${position.toString()}` }, out);
    const { data, pagination, meta: of } = JSON.parse(out.view().toString());
    return `${data.map(({ number }: Invoice) => number).join()} ${pagination.next_cursor} ${of}`;
  };
  expect(page(['A', 'B'], 'n', 'one')).toBe('A,B one-n one');
  expect(page(['C'], 'm', 'two')).toBe('C two-m two');
  expect(page([], '', 'three')).toBe(' null three');
});

test('accepts only responses of objects, with data', () => {
  const of = operation('AddAssignment');
  const changed = (fields: Field[]) => () =>
    compileEnvelope({ ...of, response: { ...of.response, fields, byName: new Map(fields.map((field) => [field.name, field])) } });
  const [data, notification] = of.response.fields as [Field, Field];
  const status = notification.shape!.fields[0] as Field;
  expect(changed([data, notification])).not.toThrow();
  expect(changed([notification])).toThrow('truckroll.scheduling.v1.AddAssignmentResponse has no data');
  expect(changed([status, { ...status, name: 'data' }])).toThrow('AddAssignmentResponse has no data');
  expect(changed([data, status])).toThrow('truckroll.scheduling.v1.AddAssignmentResponse.status is not an object');
  expect(changed([data, { ...notification, repeated: true }])).toThrow('AddAssignmentResponse.notification is not an object');
});

test('can write the response of every operation, except those that the gateway composes', () => {
  for (const candidate of operations.filter(({ service }) => !/\.(Changes|Summary)Service$/.test(service)))
    expect(typeof compileEnvelope(candidate)).toBe('function');
});
