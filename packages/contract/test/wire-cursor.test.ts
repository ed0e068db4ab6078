import { JobInvoice } from '../src/gen/truckroll/reporting/v1/job_financials.ts';
import { WireCursor } from '../src/index.ts';

const bytes = JobInvoice.encode({ id: 'a', number: 'INV-1', status: 'INVOICE_STATUS_OPEN', issued_at: 300, subtotal_cents: 0 }).finish();

function spans(of: Uint8Array): [number, boolean][] {
  const found: [number, boolean][] = [];
  for (const cursor = new WireCursor(of); cursor.field !== 0; cursor.advance()) found.push([cursor.field, cursor.delimited]);
  return found;
}

test('WireCursor finds the fields of a message, including unknown ones of every wire type', () => {
  expect(spans(bytes).slice(0, 2)).toEqual([
    [1, true],
    [2, true],
  ]);
  // Field 9 has eight bytes, field 10 four.
  expect(spans(Buffer.of(9 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8, 10 * 8 + 5, 1, 2, 3, 4))).toEqual([
    [9, false],
    [10, false],
  ]);
});

test('WireCursor ends beyond the bytes of a truncated message, or throws, and never loops forever', () => {
  const cursor = new WireCursor(Buffer.of(10, 5, 1));
  expect(cursor.end).toBeGreaterThan(3);
  expect(() => new WireCursor(Buffer.of(0x80))).toThrow('ends too early');
  expect(() => new WireCursor(Buffer.of(8 + 3))).toThrow('wire type 3');
});
