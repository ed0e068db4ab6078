// How late an invoice is, at both ends of each local day around every bucket.
import { formatDate, localDay, now, startOfLocalDate } from '@truckroll/contract';
import { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { agingOnRead } from '../src/invoices/aging.ts';

const ZONES = ['America/Chicago', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC'];
/** PostgreSQL counts binary times from the year 2000: this is the difference to 1970, in microseconds. */
const ORIGIN = 946_684_800_000_000n;

function stored(micros: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(micros) - ORIGIN);
  return bytes;
}

function aging(status: string | null, dueAt: number | null, timeZone: string) {
  const columns = [status === null ? null : Buffer.from(status), dueAt === null ? null : stored(dueAt)];
  const fragment = agingOnRead.fragment((index) => columns[index] ?? null, timeZone);
  return fragment && Invoice.decode(fragment).aging;
}

/** The result of `look` for today. Repeats it if the day ends before it returns. */
function today<T>(timeZone: string, look: (day: number) => T): T {
  for (;;) {
    const day = localDay(now(), timeZone);
    const seen = look(day);
    if (localDay(now(), timeZone) === day) return seen;
  }
}

test.each(ZONES.flatMap((zone) => [-1, 0, 1, 30, 31, 60, 61, 90, 91].map((days) => [zone, days] as const)))('in %s, is %i days past due', (timeZone, days) => {
  const shown = today(timeZone, (day) => {
    const [first, next] = [startOfLocalDate(formatDate(day - days), timeZone), startOfLocalDate(formatDate(day - days + 1), timeZone)];
    return [first, next - 1].map((dueAt) => aging('OPEN', dueAt, timeZone));
  });
  const bucket = days <= 0 ? 'CURRENT' : days <= 30 ? 'PAST_DUE_1_30' : days <= 60 ? 'PAST_DUE_31_60' : days <= 90 ? 'PAST_DUE_61_90' : 'PAST_DUE_91_PLUS';
  const expected = { days_past_due: days, bucket: `AGING_BUCKET_${bucket}` };
  expect(shown).toEqual([expected, expected]);
});

test('is current without a due date, and not shown unless the invoice is open', () => {
  expect(aging('OPEN', null, 'UTC')).toEqual({ days_past_due: null, bucket: 'AGING_BUCKET_CURRENT' });
  for (const status of ['PAID', 'VOIDED', 'DRAFT', null]) expect(aging(status, 0, 'UTC')).toBeUndefined();
});
