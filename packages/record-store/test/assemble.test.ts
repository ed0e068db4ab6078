import { codec, encodeFragment, resource } from '@truckroll/contract';
import { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import fc from 'fast-check';
import { Assembler } from '../src/assemble.ts';
import { ByteBuffer } from '../src/byte-buffer.ts';

/** The cached name by "kind id": undefined if not cached, null if the owner has published none. */
type Known = Record<string, string | null | undefined>;

function assembled(path: string, parts: readonly Uint8Array[], known: Known = {}, without?: ReadonlySet<number>) {
  const { record } = resource(path);
  const out = new ByteBuffer(8);
  const names = {
    get: (kind: string, id: string) =>
      known[`${kind} ${id}`] == null ? (known[`${kind} ${id}`] as null | undefined) : Buffer.from(known[`${kind} ${id}`] as string),
  };
  const assembler = new Assembler(record, out, names);
  assembler.record(
    parts.map((part) => Buffer.from(part)),
    without,
  );
  return { record: codec(record.typeName).decode(out.view()) as any, missing: assembler.missing };
}

const id = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const other = '1c9f4d2f-8b63-4d7e-8f21-3a5b6c7d8e9f';
const reference = (name: string, of = id) => ({ id: of, name });
const anyName = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme', minLength: 60, maxLength: 300 }));

test('inserts the latest names and leaves every other byte unchanged', () => {
  fc.assert(
    fc.property(anyName, anyName, fc.oneof(anyName, fc.constant(null), fc.constant(undefined)), (number, stored, latest) => {
      const document = encodeFragment(Invoice, { number, account: reference(stored), business_unit: reference(stored), currency: 'USD' });
      const { record, missing } = assembled('invoices', [document], { [`accounts ${id}`]: latest, [`business-units ${id}`]: null });
      const expected = { number, account: reference(latest ?? stored), business_unit: reference(stored), currency: 'USD' };
      expect(record).toEqual({ ...Invoice.decode(new Uint8Array()), ...expected });
      expect(missing).toEqual(latest === undefined ? new Map([['accounts', new Set([id])]]) : new Map());
    }),
  );
});

test('replaces the names in lists and nested objects, each by its kind of record', () => {
  const account = encodeFragment(Account, { name: 'A', tags: [reference('old'), reference('other', other), reference('old')] });
  const known = { [`tags ${id}`]: 'new', [`tags ${other}`]: 'other', [`accounts ${id}`]: 'account', [`job-types ${id}`]: 'type' };
  expect(assembled('accounts', [account], known).record.tags).toEqual([reference('new'), reference('other', other), reference('new')]);
  const job = { account: reference(''), job_type: reference('old'), tags: [] } as never;
  const visit = encodeFragment(Visit, { job });
  expect(assembled('job-appointments', [visit], known).record.job).toMatchObject({ account: reference('account'), job_type: reference('type') });
});

test('takes a field from the last part that contains it, and derived fields never from the document', () => {
  const document = encodeFragment(Invoice, {
    number: 'N',
    currency: 'USD',
    payment_applications: [{ payment_id: id, applied_cents: 1 }],
    account: reference(''),
  });
  const derived = encodeFragment(Invoice, {
    payment_applications: [
      { payment_id: other, applied_cents: 2 },
      { payment_id: id, applied_cents: 3 },
    ],
  });
  const onRead = encodeFragment(Invoice, { aging: { days_past_due: 3, bucket: 'AGING_BUCKET_PAST_DUE_1_30' } });
  const known = { [`accounts ${id}`]: 'Latest' };
  const merged = assembled('invoices', [document, derived, onRead], known).record;
  expect(merged.payment_applications.map((part: { applied_cents: number }) => part.applied_cents)).toEqual([2, 3]);
  expect(merged).toMatchObject({ number: 'N', currency: 'USD', account: reference('Latest'), aging: { days_past_due: 3 } });
  const { number } = resource('invoices').record.byName.get('payment_applications')!;
  const without = assembled('invoices', [document, new Uint8Array()], known, new Set([number])).record;
  expect(without).toMatchObject({ number: 'N', currency: 'USD', payment_applications: [] });
});
