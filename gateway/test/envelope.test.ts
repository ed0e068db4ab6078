import fc from 'fast-check';
import { JsonBuffer, codec, operations, type Operation } from '@truckroll/contract';
import { ListInvoicesResponse, type Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { AddAssignmentResponse } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { compileEnvelope } from '../src/http/envelope.ts';
import { invoice } from './support/invoice.ts';

const operation = (name: string): Operation => operations.find((candidate) => candidate.name === name) as Operation;
const meta = (timeZone = 'America/Chicago'): string => `{"request_id":"r","timezone":"${timeZone}"}`;

function write(of: Operation, bytes: Uint8Array): any {
  const out = new JsonBuffer(16);
  compileEnvelope(of)(Buffer.from(bytes), { meta, seal: (position) => `sealed-${position.toString()}` }, out);
  return JSON.parse(out.view().toString());
}

test('writes every record of a page in order, whatever its text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 100 }), fc.stringMatching(/^[a-z]{0,8}$/), (numbers, position) => {
      const bytes = ListInvoicesResponse.encode({ data: numbers.map((number) => invoice({ number })), next: Buffer.from(position) }).finish();
      const page = write(operation('ListInvoices'), bytes);
      expect(Object.keys(page)).toEqual(['data', 'pagination', 'meta']);
      expect(page.data.map(({ number }: Invoice) => number)).toEqual(numbers);
      expect(page.pagination.next_cursor).toBe(position === '' ? null : `sealed-${position}`);
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
  expect(page.pagination.next_cursor).toBe('sealed-n');
  expect(page.meta).toEqual({ request_id: 'r', timezone: 'America/Chicago' });
});

test('writes other objects of a response as keys next to data', () => {
  const data = codec('truckroll.scheduling.v1.Visit').decode(new Uint8Array()) as never;
  const bytes = AddAssignmentResponse.encode({ data, notification: { status: 'NOTIFICATION_STATUS_QUEUED' } }).finish();
  expect(Object.keys(write(operation('AddAssignment'), bytes))).toEqual(['data', 'notification', 'meta']);
});

test('writes camel case and no meta under /api/v1', () => {
  const camel = { ...operation('GetInvoice'), camelCase: true };
  const answer = write(camel, ListInvoicesResponse.encode({ data: [invoice()], next: Buffer.alloc(0) }).finish());
  expect(Object.keys(answer)).toEqual(['data']);
  expect(Object.keys(answer.data)).toContain('paymentApplications');
});

test('fails on an answer that lacks its record or is cut short', () => {
  const whole = ListInvoicesResponse.encode({ data: [invoice()], next: Buffer.alloc(0) }).finish();
  expect(() => write(operation('GetInvoice'), new Uint8Array())).toThrow(/data came 0 times/);
  expect(() => write(operation('ListInvoices'), whole.subarray(0, -1))).toThrow(/too early/);
  expect(() => write(operation('ListInvoices'), Buffer.of(8, 1))).toThrow(/something other/);
});

test('can write the response of every operation, except those of the change feed', () => {
  for (const candidate of operations.filter(({ service }) => !service.endsWith('.ChangesService'))) expect(typeof compileEnvelope(candidate)).toBe('function');
});
