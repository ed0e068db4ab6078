import fc from 'fast-check';
import {
  BEYOND,
  beyondInstants,
  civil,
  countedDay,
  dateProblem,
  formatDate,
  formatInstant,
  isDate,
  isTimeZone,
  localDay,
  now,
  parseDate,
  parseInstant,
  startOfDay,
  startOfLocalDate,
} from '../src/time.ts';

const { spyOn } = jest;

const micros = fc.integer({ min: -9_000_000_000_000_000, max: 9_000_000_000_000_000 });
const zones = ['America/Chicago', 'America/Havana', 'Asia/Kathmandu', 'Pacific/Apia', 'Europe/London', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'UTC'];

describe('instants', () => {
  test('survive being formatted and parsed', () => {
    fc.assert(fc.property(micros, (value) => parseInstant(formatInstant(value)) === value));
  });

  test('are formatted with six fractional digits or none', () => {
    expect(formatInstant(1_772_377_445_123_456)).toBe('2026-03-01T15:04:05.123456Z');
    expect(formatInstant(1_772_377_445_000_001)).toBe('2026-03-01T15:04:05.000001Z');
    expect(formatInstant(1_772_377_445_000_000)).toBe('2026-03-01T15:04:05Z');
  });

  test.each([
    ['2026-03-01T15:04:05+02:00', '2026-03-01T13:04:05Z'],
    ['2026-03-01T15:04:05-0530', '2026-03-01T20:34:05Z'],
    ['2026-03-01T15:04:05.1z', '2026-03-01T15:04:05.100000Z'],
    ['2026-03-01T15:04:05.000001Z', '2026-03-01T15:04:05.000001Z'],
    ['2026-03-01t15:04:05.12z', '2026-03-01T15:04:05.120000Z'],
    ['2026-03-01T23:59:59Z', '2026-03-01T23:59:59Z'],
    ['2026-03-01T15:04:05-00:00', '2026-03-01T15:04:05Z'],
    ['2026-03-01T00:00:00+23:59', '2026-02-28T00:01:00Z'],
    ['2026-03-01T00:00:00-23:59', '2026-03-01T23:59:00Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['2255-06-05T23:47:34.740990Z', '2255-06-05T23:47:34.740990Z'],
    ['1684-07-28T00:12:25.259010Z', '1684-07-28T00:12:25.259010Z'],
  ])('%s means %s', (text, meaning) => {
    expect(formatInstant(parseInstant(text)!)).toBe(meaning);
  });

  test.each([
    '2026-03-01',
    '2026-03-01T15:04Z',
    '2026-03-01T15:04:05',
    '2026-02-30T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T15:60:05Z',
    '2026-03-01T15:04:60Z',
    '2026-03-01T15:04:05+24:00',
    '2026-03-01T15:04:05+02:60',
    '2026-03-01T15:04:05+2',
    ' 2026-03-01T15:04:05Z',
    '12026-03-01T15:04:05Z',
    '2026-03-01T15:04:05ZZ',
    '2026-03-01T15:04:05+02:000',
    '2255-06-05T23:47:34.740991Z',
    '1684-07-28T00:12:25.259009Z',
    '2026-03-01T15:04:05.1234567Z',
    '2026-03-01T15:04:05.Z',
    '2026-03-01 15:04:05Z',
    '9999-12-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '',
  ])('%s is refused', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test.each([
    ['2255-06-05T23:47:34.740990Z', undefined],
    ['2255-06-05T23:47:34.740991Z', 'after'],
    ['9999-12-31T23:59:59Z', 'after'],
    ['1684-07-28T00:12:25.259010Z', undefined],
    ['1684-07-28T00:12:25.259009Z', 'before'],
    ['0001-01-01T00:00:00Z', 'before'],
    ['1970-01-01T00:00:00Z', undefined],
    ['0000-01-01T00:00:00Z', undefined],
    ['soon', undefined],
  ])('%s is beyond what can be held: %s', (text, side) => {
    expect(beyondInstants(text)).toBe(side);
  });

  test('are whole microseconds', () => {
    const clock = spyOn(performance, 'now').mockReturnValue(0.0004);
    const start = now();
    clock.mockReturnValue(1234.5674);
    expect(Number.isInteger(start)).toBe(true);
    // The time origin has fractions of a microsecond, so that either end may be rounded up.
    expect(Math.abs(now() - start - 1_234_567)).toBeLessThanOrEqual(1);
    clock.mockRestore();
    expect(formatInstant(start).slice(0, 10)).toBe(new Date(performance.timeOrigin).toISOString().slice(0, 10));
  });
});

describe('dates', () => {
  test('survive being formatted and parsed', () => {
    fc.assert(fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (days) => parseDate(formatDate(days)) === days));
  });

  test('agree with those of JavaScript around the ends of months, in each year', () => {
    const wrong: string[] = [];
    for (let year = 1600; year <= 2401; year++) {
      for (let month = 0; month < 12; month++) {
        for (const day of [-1, 0, 1]) {
          const time = Date.UTC(year, month, day);
          const text = new Date(time).toISOString().slice(0, 10);
          if (parseDate(text) !== time / 86_400_000 || formatDate(time / 86_400_000) !== text) wrong.push(text);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ['0001-01-01', -719_162, [1, 1, 1]],
    ['1970-01-01', 0, [1970, 1, 1]],
    ['2000-02-29', 11_016, [2000, 2, 29]],
    ['2026-03-01', 20_513, [2026, 3, 1]],
    ['9999-12-31', 2_932_896, [9999, 12, 31]],
  ])('%s is day %i', (text, days, parts) => {
    expect(parseDate(text)).toBe(days);
    expect(formatDate(days)).toBe(text);
    expect(civil(days)).toEqual(parts);
    expect(isDate(text)).toBe(true);
  });

  test.each([
    '2026-02-29',
    '2026-02-30',
    '2024-02-30',
    '1900-02-29',
    '2100-02-29',
    '2026-01-32',
    '2026-03-32',
    '2026-04-31',
    '2026-05-32',
    '2026-06-31',
    '2026-07-32',
    '2026-08-32',
    '2026-09-31',
    '2026-10-32',
    '2026-11-31',
    '2026-12-32',
    '2026-01-00',
    '2026-00-01',
    '2026-13-01',
    '2026-1-1',
    '0000-01-01',
    '0000-02-29',
    '12026-03-01',
    '2026-03-011',
    '',
  ])('%s is refused', (text) => {
    expect(parseDate(text)).toBeUndefined();
    expect(isDate(text)).toBe(false);
  });

  test.each([
    ['2026-02-00', 'Days begin at 01.'],
    ['2026-12-00T00:00:00Z', 'Days begin at 01.'],
    ['2026-02-29', 'February 2026 has 28 days.'],
    ['2024-02-30', 'February 2024 has 29 days.'],
    ['1900-02-29', 'February 1900 has 28 days.'],
    ['0001-02-29', 'February 0001 has 28 days.'],
    ['2026-04-31', 'April has 30 days.'],
    ['2026-12-32', 'December has 31 days.'],
    ['2026-13-01', 'Give a month from 01 to 12.'],
    ['2026-00-01', 'Give a month from 01 to 12.'],
    ['2026-02-30T12:00:00Z', 'February 2026 has 28 days.'],
    ['2026-02-28', undefined],
    ['0000-02-30', undefined],
    ['2026-2-30', undefined],
    ['x2026-02-30', undefined],
    ['', undefined],
  ])('the problem of %j is %j', (text, problem) => {
    expect(dateProblem(text)).toBe(problem);
  });

  test('begin at the first instant with that local date, even in a daylight-saving gap', () => {
    expect(formatInstant(startOfLocalDate('2026-03-08', 'America/Havana'))).toBe('2026-03-08T05:00:00Z');
    expect(formatInstant(startOfLocalDate('2018-11-04', 'America/Sao_Paulo'))).toBe('2018-11-04T03:00:00Z');
    expect(formatInstant(startOfLocalDate('2011-12-30', 'Pacific/Apia'))).toBe('2011-12-30T10:00:00Z');
  });

  test('begin at an instant that can be represented and compared, however distant they are', () => {
    for (const zone of zones) {
      const [first, last] = [startOfLocalDate('0001-01-01', zone), startOfLocalDate('9999-12-31', zone)];
      expect([first, last]).toEqual([BEYOND.before, BEYOND.after]);
      expect(first).toBeLessThan(startOfLocalDate('1700-01-01', zone));
      expect(last).toBeGreaterThan(startOfLocalDate('2255-01-01', zone));
    }
  });

  test('begin at the same instant when computed again, by number, or after another zone', () => {
    for (const [zone, start] of [
      ['America/Chicago', '2026-03-08T06:00:00Z'],
      ['Asia/Kathmandu', '2026-03-07T18:15:00Z'],
      ['America/Chicago', '2026-03-08T06:00:00Z'],
    ] as const) {
      expect(formatInstant(startOfDay(parseDate('2026-03-08')!, zone))).toBe(start);
      expect(formatInstant(startOfDay(parseDate('2026-03-09')!, zone))).toBe(zone === 'Asia/Kathmandu' ? '2026-03-08T18:15:00Z' : '2026-03-09T05:00:00Z');
    }
  });

  test('contain their first instant but not the previous microsecond', () => {
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

test('accepts the names of time zones', () => {
  for (const name of ['Mars/Olympus', '+02:00', '-02:00', '', 'america/chicago', 'utc']) expect(isTimeZone(name)).toBe(false);
  const all = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'US/Central', 'Asia/Kolkata', 'Etc/GMT+5', 'EST5EDT'];
  expect(all.filter((name) => !isTimeZone(name))).toEqual([]);
});

describe('the local date of an instant', () => {
  test.each([
    ['2010-11-07T02:29:59.999999Z', 'America/St_Johns', '2010-11-06'],
    ['2010-11-07T02:30:00Z', 'America/St_Johns', '2010-11-07'],
    ['2010-11-07T02:30:59.999999Z', 'America/St_Johns', '2010-11-07'],
    ['2010-11-07T02:31:00Z', 'America/St_Johns', '2010-11-06'],
    ['2010-11-07T02:45:00Z', 'America/St_Johns', '2010-11-06'],
    ['2010-11-07T03:29:59.999999Z', 'America/St_Johns', '2010-11-06'],
    ['2010-11-07T03:30:00Z', 'America/St_Johns', '2010-11-07'],
    ['2026-03-08T05:59:59.999999Z', 'America/Chicago', '2026-03-07'],
    ['2026-03-08T06:00:00Z', 'America/Chicago', '2026-03-08'],
    ['2026-03-09T05:00:00Z', 'America/Chicago', '2026-03-09'],
    ['1972-01-07T00:44:29.999999Z', 'Africa/Monrovia', '1972-01-06'],
    ['1972-01-07T00:44:30Z', 'Africa/Monrovia', '1972-01-07'],
    ['1969-12-31T18:14:59.999999Z', 'Asia/Kathmandu', '1969-12-31'],
  ])('%s in %s is %s, also where clocks are set back before midnight', (instant, zone, date) => {
    expect(formatDate(localDay(parseInstant(instant)!, zone))).toBe(date);
  });
});

describe('the date that an instant is counted under', () => {
  const dateOf = (instant: string, zone: string): string => formatDate(countedDay(parseInstant(instant) as number, zone));

  test('is the latest date that has begun, in every zone', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000_000_000, max: 4_000_000_000_000_000 }), fc.constantFrom(...zones), (at, zone) => {
        const day = countedDay(at, zone);
        const start = (of: number): number => startOfLocalDate(formatDate(of), zone);
        expect(start(day)).toBeLessThanOrEqual(at);
        expect(start(day + 1)).toBeGreaterThan(at);
      }),
    );
  });

  test.each([
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
