import { generateRequests } from '../src/index.ts';
import { DAY, Zone, parseInstant } from '../src/time.ts';
import { SMALL, loadCompany, type Json } from './company.ts';
import { Coverage } from './coverage.ts';
import { agingOf, dispatchStatus, groupBy } from './derived.ts';

/** A Sunday, three o'clock in the morning in Chicago. */
const until = '2026-11-29T09:00:00Z';

describe('a business', () => {
  const options = { ...SMALL, size: 'business', until } as const;
  const data = loadCompany(options);
  const now = parseInstant(until);
  const zone = new Zone(SMALL.timezone, now - 800 * DAY, now + 100 * DAY);
  const crews = groupBy(data['job-assignments']!, 'appointment_id');
  const visits = data['job-appointments']!.map((visit): Json => {
    const crew = crews.get(visit.id) ?? [];
    return { ahead: zone.day(parseInstant(visit.starts_at)) - zone.day(now), crew, type: visit.type, status: dispatchStatus(visit, crew) };
  });
  const between = (from: number, to: number) => visits.filter(({ ahead }) => ahead >= from && ahead < to);

  test('has the public shape', () => {
    expect(new Coverage().read(Object.entries(data).map(([path, records]) => ({ path, records }))).misfits).toEqual([]);
  });

  test('has some 200 visits a week and fewer next week, and visits without a technician among them', () => {
    for (const week of [-14, -7]) expect(Math.abs(between(week, week + 7).length - 210)).toBeLessThan(40);
    expect(between(1, 8).length).toBeGreaterThan(90);
    expect(between(1, 8).length).toBeLessThan(180);
    expect(between(0, 8).filter(({ status }) => status === 'UNASSIGNED').length).toBeGreaterThan(5);
  });

  test('plans no work of archived types', () => {
    const archived = data['job-types']!.filter(({ archived_at: at }) => at !== null).map(({ name }) => name);
    expect(between(-14, 13).filter(({ type }) => archived.includes(type))).toEqual([]);
  });

  test('has visits in every state today, even at night on a Sunday, and hardly any before today that are not finished', () => {
    const states = new Set(between(0, 1).map(({ status }) => status));
    for (const state of ['COMPLETED', 'IN_PROGRESS', 'DISPATCHED', 'ASSIGNED', 'UNASSIGNED']) expect(states).toContain(state);
    const past = between(-14, 0).filter(({ status }) => status === 'COMPLETED' || status === 'CANCELED');
    expect(past.length / between(-14, 0).length).toBeGreaterThan(0.9);
  });

  test('sends no technician to two visits at a time in the weeks around today', () => {
    const recent = data['job-assignments']!.filter(({ starts_at: starts }) => parseInstant(starts) > now - 7 * DAY);
    for (const [, work] of groupBy(
      recent.map(({ team_member: { id }, starts_at, ends_at }): Json => ({ id, starts_at, ends_at })),
      'id',
    )) {
      work.sort((x, y) => parseInstant(x.starts_at) - parseInstant(y.starts_at));
      work.slice(1).forEach(({ starts_at }, n) => expect(parseInstant(starts_at)).toBeGreaterThanOrEqual(parseInstant(work[n]!.ends_at)));
    }
  });

  test('invoices 350,000 dollars a month on average, and between 130,000 and 570,000 in each', () => {
    const issued = data.invoices!.filter(({ issued_at, status }) => issued_at !== null && (status === 'OPEN' || status === 'PAID'));
    const months = groupBy(
      issued.map(({ issued_at, amounts }): Json => ({ month: issued_at.slice(0, 7), cents: amounts.discounted_subtotal_cents })),
      'month',
    );
    const sums = [...months]
      .sort()
      .slice(1, -1)
      .map(([, invoices]) => invoices.reduce((sum, { cents }) => sum + cents / 100, 0));
    expect(sums.length).toBeGreaterThanOrEqual(22);
    for (const sum of sums) expect(Math.abs(sum - 350_000)).toBeLessThan(220_000);
    expect(Math.abs(sums.reduce((sum, one) => sum + one, 0) / sums.length - 350_000)).toBeLessThan(50_000);
  });

  test('has customers who are overdue', () => {
    const overdue = data.invoices!.filter((invoice) => (agingOf(invoice, SMALL.timezone, until)?.days ?? 0) > 0);
    expect(new Set(overdue.map(({ account }) => account.id)).size).toBeGreaterThan(20);
  });

  test('has unbooked requests, most of them of its customers', () => {
    const accounts = new Set(data.accounts!.map(({ id }) => id));
    const locations = new Map(data.locations!.map(({ id, accounts: owners }) => [id, owners]));
    const requests = generateRequests(options);
    const known = requests.filter(({ account_id }) => account_id !== undefined);
    expect([requests.length, known.length]).toEqual([8, 6]);
    for (const { account_id: id, location_id: location } of known) {
      expect(accounts.has(id)).toBe(true);
      expect(locations.get(location)!.map(({ account }: Json) => account.id)).toContain(id);
    }
  });
});
