import fc from 'fast-check';
import { Calendar, DAY, HOUR, MINUTE, Zone, instantText, parseInstant, weekday } from '../src/time.ts';

const from = parseInstant('2020-01-01T00:00:00Z');
const to = parseInstant('2030-01-01T00:00:00Z');
const zones = ['America/Chicago', 'America/Phoenix', 'Europe/Berlin', 'Asia/Kolkata', 'America/Havana', 'America/Santiago', 'Australia/Lord_Howe'].map(
  (name) => new Zone(name, from, to),
);
const anyZone = fc.constantFrom(...zones);
const anyInstant = fc.integer({ min: from, max: to });

test('instants have six fractional digits or none, and parse back to the same value', () => {
  expect(instantText(parseInstant('2026-03-01T15:04:05.123456Z'))).toBe('2026-03-01T15:04:05.123456Z');
  expect(instantText(parseInstant('2026-03-01T15:04:05.000000Z'))).toBe('2026-03-01T15:04:05Z');
  expect(instantText(parseInstant('2026-03-01T15:04:05.5Z'))).toBe('2026-03-01T15:04:05.500000Z');
  fc.assert(fc.property(anyInstant, (at) => parseInstant(instantText(at)) === at));
  expect(() => parseInstant('2026-03-01')).toThrow(RangeError);
});

test('local time agrees with the runtime’s own tables', () => {
  fc.assert(
    fc.property(anyZone, anyInstant, (zone, at) => {
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone.name, dateStyle: 'short', timeStyle: 'medium' }).format(at / 1000);
      expect(instantText(zone.local(at)).slice(0, 19).replace('T', ' ')).toBe(shown);
    }),
    { numRuns: 300 },
  );
});

test('a local time converts to an instant that shows it, or that is after the gap', () => {
  fc.assert(
    fc.property(anyZone, fc.integer({ min: from + 2 * DAY, max: to - 2 * DAY }), (zone, local) => {
      const at = zone.instant(local);
      const gap = zone.transitions.find((change) => change.at + change.before <= local && local < change.at + change.offset);
      expect(zone.local(at)).toBe(gap ? local + gap.offset - gap.before : local);
    }),
    { numRuns: 500 },
  );
});

test('a local time in the repeated hour of autumn means its first pass, one in the skipped hour of spring the hour after', () => {
  const chicago = zones[0]!;
  expect(instantText(chicago.instant(parseInstant('2025-11-02T01:30:00Z')))).toBe('2025-11-02T06:30:00Z');
  expect(instantText(chicago.instant(parseInstant('2026-03-08T02:30:00Z')))).toBe('2026-03-08T08:30:00Z');
});

test('a day starts at its first instant, even where midnight is skipped or occurs twice', () => {
  fc.assert(
    fc.property(anyZone, fc.integer({ min: from / DAY + 2, max: to / DAY - 2 }), (zone, day) => {
      const start = zone.startOfDay(day);
      expect(zone.day(start)).toBe(day);
      expect(zone.day(start - 1)).toBe(day - 1);
    }),
    { numRuns: 500 },
  );
});

test('bookings come in order, in office hours, rarely on Sundays, none after the end', () => {
  const zone = zones[0]!;
  const [since, until] = [parseInstant('2024-03-10T06:00:00Z'), parseInstant('2026-03-10T16:00:00Z')];
  const calendar = new Calendar(5, zone, since, until, 5_000);
  let last = 0;
  let sundays = 0;
  for (let n = 0; n < 5_000; n++) {
    const at = calendar.bookedAt(n);
    const hour = Math.floor((zone.local(at) % DAY) / HOUR);
    expect(at).toBeGreaterThan(last - 1_000_000);
    expect(hour >= 7 && hour < 20).toBe(true);
    if (weekday(zone.day(at)) === 6) sundays++;
    last = at;
  }
  expect(last).toBeLessThanOrEqual(until);
  expect(last).toBeGreaterThan(until - 10 * HOUR);
  expect(sundays).toBeLessThan(200);
  const before = calendar.bookedBefore(until - 100 * DAY);
  expect(calendar.bookedAt(before)).toBeGreaterThanOrEqual(until - 100 * DAY - MINUTE);
  expect(calendar.bookedAt(before - 1)).toBeLessThan(until - 100 * DAY + MINUTE);
});
