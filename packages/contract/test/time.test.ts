import fc from 'fast-check';
import { BEYOND, countedDay, formatDate, formatInstant, isTimeZone, localDay, parseDate, parseInstant, startOfLocalDate } from '../src/time.ts';

const micros = fc.integer({ min: -9_000_000_000_000_000, max: 9_000_000_000_000_000 });
const zones = ['America/Chicago', 'America/Havana', 'Asia/Kathmandu', 'Pacific/Apia', 'Europe/London', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'UTC'];

describe('instants', () => {
  it('survive being formatted and parsed', () => {
    fc.assert(fc.property(micros, (value) => parseInstant(formatInstant(value)) === value));
  });

  it('are formatted with six fractional digits or none', () => {
    expect(formatInstant(1_772_377_445_123_456)).toBe('2026-03-01T15:04:05.123456Z');
    expect(formatInstant(1_772_377_445_000_001)).toBe('2026-03-01T15:04:05.000001Z');
    expect(formatInstant(1_772_377_445_000_000)).toBe('2026-03-01T15:04:05Z');
  });

  it.each([
    ['2026-03-01T15:04:05+02:00', '2026-03-01T13:04:05Z'],
    ['2026-03-01T15:04:05-0530', '2026-03-01T20:34:05Z'],
    ['2026-03-01T15:04:05.1z', '2026-03-01T15:04:05.100000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ])('%s means %s', (text, meaning) => {
    expect(formatInstant(parseInstant(text)!)).toBe(meaning);
  });

  it.each([
    '2026-03-01',
    '2026-03-01T15:04Z',
    '2026-03-01T15:04:05',
    '2026-02-30T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T15:04:60Z',
    '2026-03-01T15:04:05.1234567Z',
    '2026-03-01T15:04:05.Z',
    '2026-03-01 15:04:05Z',
    '9999-12-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '',
  ])('%s is refused', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});

describe('dates', () => {
  it('survive being formatted and parsed', () => {
    fc.assert(fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (days) => parseDate(formatDate(days)) === days));
  });

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '0000-01-01', '0000-02-29', ''])('%s is refused', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });

  it('begin at the first instant with that local date, even in a daylight-saving gap', () => {
    expect(formatInstant(startOfLocalDate('2026-03-08', 'America/Havana'))).toBe('2026-03-08T05:00:00Z');
    expect(formatInstant(startOfLocalDate('2018-11-04', 'America/Sao_Paulo'))).toBe('2018-11-04T03:00:00Z');
    expect(formatInstant(startOfLocalDate('2011-12-30', 'Pacific/Apia'))).toBe('2011-12-30T10:00:00Z');
  });

  it('begin at an instant that can be represented and compared, however distant they are', () => {
    for (const zone of zones) {
      const [first, last] = [startOfLocalDate('0001-01-01', zone), startOfLocalDate('9999-12-31', zone)];
      expect([first, last]).toEqual([BEYOND.before, BEYOND.after]);
      expect(first).toBeLessThan(startOfLocalDate('1700-01-01', zone));
      expect(last).toBeGreaterThan(startOfLocalDate('2255-01-01', zone));
    }
  });

  it('contain their first instant but not the previous microsecond', () => {
    // No instant has the date that Apia skipped.
    fc.assert(
      fc.property(fc.integer({ min: 5000, max: 25_000 }), fc.constantFrom(...zones), (days, zone) => {
        if (zone === 'Pacific/Apia' && formatDate(days) === '2011-12-30') return true;
        const start = startOfLocalDate(formatDate(days), zone);
        return localDay(start, zone) === days && localDay(start - 1, zone) < days;
      }),
    );
  });
});

it('accepts the names of time zones', () => {
  expect(['Mars/Olympus', '+02:00', '', 'america/chicago', 'utc'].filter(isTimeZone)).toEqual([]);
  const all = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'US/Central', 'Asia/Kolkata', 'Etc/GMT+5', 'EST5EDT'];
  expect(all.filter((name) => !isTimeZone(name))).toEqual([]);
});

describe('the date that an instant is counted under', () => {
  const dateOf = (instant: string, zone: string): string => formatDate(countedDay(parseInstant(instant) as number, zone));

  it('is the latest date that has begun, in every zone', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000_000_000, max: 4_000_000_000_000_000 }), fc.constantFrom(...zones), (at, zone) => {
        const day = countedDay(at, zone);
        const start = (of: number): number => startOfLocalDate(formatDate(of), zone);
        expect(start(day)).toBeLessThanOrEqual(at);
        expect(start(day + 1)).toBeGreaterThan(at);
      }),
    );
  });

  it.each([
    ['a date that has begun does not end again where clocks go back over midnight', '2023-11-05T03:30:00Z', 'America/Havana', '2023-11-04'],
    ['the last microsecond before midnight', '2026-03-05T05:59:59.999999Z', 'America/Chicago', '2026-03-04'],
    ['midnight', '2026-03-05T06:00:00Z', 'America/Chicago', '2026-03-05'],
    ['before a date that the zone skipped', '2011-12-30T09:59:59.999999Z', 'Pacific/Apia', '2011-12-29'],
    ['after a date that the zone skipped', '2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31'],
    ['a date that begins an hour late', '2018-11-04T03:00:00Z', 'America/Sao_Paulo', '2018-11-04'],
    ['a minute past midnight that clocks repeat before midnight', '2010-11-07T02:31:00Z', 'America/St_Johns', '2010-11-07'],
    ['the hour that is of the day before by the wall clock', '2010-11-07T03:00:00Z', 'America/St_Johns', '2010-11-07'],
  ])('%s', (_, instant, zone, date) => expect(dateOf(instant, zone)).toBe(date));
});
