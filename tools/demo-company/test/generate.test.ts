import { resources } from '@truckroll/contract';
import { SIZES, describeCompany, generateCompany } from '../src/index.ts';
import { DAY, HOUR, Zone, parseInstant } from '../src/time.ts';
import { SMALL, loadCompany, type Json } from './company.ts';
import fc from 'fast-check';

const text = (options: Parameters<typeof loadCompany>[0]) => JSON.stringify(loadCompany(options));

test('there is a file for every record of the contract except codes, and referenced records come first', () => {
  const paths = generateCompany(SMALL).map(({ path }) => path);
  expect([...paths, 'job-classes'].sort()).toEqual(resources.map(({ path }) => path).sort());
  for (const pair of [
    'business-units team-members',
    'job-lifecycles job-types',
    'accounts jobs',
    'jobs job-appointments',
    'job-appointments job-assignments',
    'timesheets time-entries',
    'invoices payments',
    'payments refunds',
  ]) {
    const [first, second] = pair.split(' ') as [string, string];
    expect(paths.indexOf(first)).toBeLessThan(paths.indexOf(second));
  }
});

test('the same options give the same company, even when a file is read twice', () => {
  expect(text({})).toBe(text({}));
  const jobs = generateCompany(SMALL).find(({ path }) => path === 'jobs')!;
  expect(JSON.stringify([...jobs.records])).toBe(JSON.stringify([...jobs.records]));
});

test('two seeds share no id', () => {
  const ids = (seed: number) => new Set(text({ seed, size: { jobs: 60, accounts: 20 } }).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g));
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff), (one, other) => {
      fc.pre(one !== other);
      const others = ids(other);
      expect([...ids(one)].filter((id) => others.has(id))).toEqual([]);
    }),
    { numRuns: 8 },
  );
});

test('records are generated lazily: the first of a hundred million come at once', () => {
  const files = generateCompany({ ...SMALL, size: { jobs: 100_000_000, accounts: 50_000_000 } });
  for (const { records } of files) expect(records[Symbol.iterator]().next().done).toBe(false);
});

test('accepts a named size, a number of jobs or explicit numbers', () => {
  const count = (size: Parameters<typeof generateCompany>[0]['size'], path: string) =>
    [...generateCompany({ ...SMALL, size }).find((file) => file.path === path)!.records].length;
  expect(count('small', 'jobs')).toBe(SIZES.small.jobs);
  expect(count(37, 'jobs')).toBe(37);
  expect(count({ jobs: 10, accounts: 3, members: 33 }, 'accounts')).toBe(3);
  expect(count({ jobs: 10, accounts: 3, members: 33 }, 'team-members')).toBe(33);
});

test('rejects unusable options with a message', () => {
  const refused = (option: Json) => () => generateCompany({ ...SMALL, ...option });
  expect(refused({ seed: -1 })).toThrow('seed must be a whole number from 0 to 4294967295, not -1');
  expect(refused({ seed: 0.5 })).toThrow(RangeError);
  expect(refused({ size: 'huge' })).toThrow('size huge is not known; use small, business, medium, large or a number of jobs');
  expect(refused({ size: 0 })).toThrow(RangeError);
  expect(refused({ until: 'today' })).toThrow('not an instant: today');
  expect(refused({ timezone: 'Mars/Olympus' })).toThrow(RangeError);
});

test('a company has a name', () => {
  expect(describeCompany(SMALL)).toEqual({ name: expect.stringMatching(/\w/), timezone: 'America/Chicago', currency: 'USD' });
});

describe('two years of a company', () => {
  const data = loadCompany({ size: 3_000 });
  const until = parseInstant(SMALL.until);
  const zone = new Zone(SMALL.timezone, until - 800 * DAY, until + 100 * DAY);
  const visits = data['job-appointments']!.map((visit): Json => ({ ...visit, at: parseInstant(visit.starts_at) }));
  const jobs = new Map(data.jobs!.map((job) => [job.id, job]));

  test('have seasons', () => {
    const booked = (name: string, months: readonly string[]) =>
      data.jobs!.filter((job) => job.job_type?.name === name && months.includes(job.created_at.slice(5, 7))).length;
    expect(booked('AC repair', ['06', '07', '08'])).toBeGreaterThan(10 * booked('AC repair', ['11', '12', '01']));
    expect(booked('No heat', ['12', '01', '02'])).toBeGreaterThan(10 * booked('No heat', ['06', '07', '08']));
  });

  test('have working hours: visits start between seven and five on weekdays, and a few at other times', () => {
    const usual = visits.filter(({ at }) => {
      const hour = Math.floor((zone.local(at) % DAY) / HOUR);
      return hour >= 7 && hour < 17;
    });
    expect(usual.length / visits.length).toBeGreaterThan(0.98);
    expect(usual.length).toBeLessThan(visits.length);
  });

  test('reach from two years ago to the coming weeks, and include the current minute', () => {
    const starts = visits.map(({ at }) => at);
    expect(Math.min(...starts)).toBeLessThan(until - 725 * DAY);
    expect(Math.max(...starts)).toBeGreaterThan(until + 7 * DAY);
    expect(visits.filter(({ at, ends_at }) => at <= until && parseInstant(ends_at) > until).length).toBeGreaterThan(10);
  });

  test('have work across each daylight-saving change, directly after it, and in both passes of the repeated hour', () => {
    const changes = zone.transitions.filter(({ at }) => at > until - 700 * DAY && at < until - 10 * DAY);
    expect(changes.length).toBeGreaterThanOrEqual(3);
    for (const { at } of changes) {
      const near = visits.filter((visit) => Math.abs(visit.at - at) < 2 * HOUR);
      expect(near.some((visit) => visit.at < at && parseInstant(visit.ends_at) > at)).toBe(true);
      expect(near.some((visit) => visit.at === at)).toBe(true);
      expect(near.some((visit) => visit.at === at + HOUR / 2)).toBe(true);
      expect(near.some((visit) => visit.at === at - HOUR / 2)).toBe(true);
      for (const visit of near) expect(jobs.has(visit.job_id)).toBe(true);
    }
  });

  test('have invoices and payments on the first and the last microsecond of a local day', () => {
    const times = [...data.invoices!.map(({ issued_at }) => issued_at), ...data.payments!.map(({ created_at }) => created_at)]
      .filter((time) => time !== null)
      .map(parseInstant);
    expect(times.some((at) => zone.startOfDay(zone.day(at)) === at)).toBe(true);
    expect(times.some((at) => zone.startOfDay(zone.day(at) + 1) - 1 === at)).toBe(true);
  });

  test('have names in several scripts, with composed and decomposed accents, and emoji', () => {
    const names = data.accounts!.map(({ name }) => name).join();
    for (const script of [/[é]/, /e\u0301/, /\p{Script=Han}/u, /\p{Script=Arabic}/u, /\p{Script=Hebrew}/u, /\p{Emoji_Presentation}/u]) {
      expect(names).toMatch(script);
    }
  });

  test('have accounts with many jobs and with none', () => {
    const counts = new Map<string, number>();
    for (const { account } of data.jobs!) counts.set(account.id, (counts.get(account.id) ?? 0) + 1);
    expect(Math.max(...counts.values())).toBeGreaterThan(30);
    expect(counts.size).toBeLessThan(data.accounts!.length);
  });
});
