import fc from 'fast-check';
import { AgingBucket } from '@truckroll/contract/gen/billing/v1/invoices';
import { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { DispatchStatus } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { generateCompany } from '../src/index.ts';
import { loadCompany, SMALL } from './company.ts';
import { Coverage, NEVER_EMPTY } from './coverage.ts';
import { agingOf, applicationsOf, dispatchStatus, groupBy } from './derived.ts';

const spellings = (generated: object) => Object.keys(generated).filter((name) => !/^UN(SPECIFIED|RECOGNIZED)$/.test(name));

/** The seeds that users are most likely to choose. Of a thousand other seeds, one in a hundred missed one value. */
const SEEDS = [0, 1, 2, 3, 42];

test('every record of any company has the public shape, whatever its size, zone and time', () => {
  const zones = ['America/New_York', 'America/Phoenix', 'America/Los_Angeles', 'Europe/Berlin', 'Pacific/Auckland', 'America/Havana'];
  const options = fc.record({
    seed: fc.nat(0xffff_ffff),
    size: fc.record({ jobs: fc.integer({ min: 1, max: 60 }), accounts: fc.integer({ min: 1, max: 30 }) }),
    timezone: fc.constantFrom(...zones),
    until: fc.date({ min: new Date('2022-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }).map((date) => date.toISOString().replace('.000', '')),
  });
  fc.assert(
    fc.property(options, (option) => new Coverage().read(generateCompany(option)).misfits.length === 0),
    {
      numRuns: 20,
    },
  );
});

describe.each(SEEDS)('a small company with seed %i', (seed) => {
  const data = loadCompany({ seed });

  test('shows every value of every field, and every nullable field as null and as a value', () => {
    const coverage = new Coverage().read(Object.entries(data).map(([path, records]) => ({ path, records })));
    expect(coverage.misfits).toEqual([]);
    expect([...coverage.missing].sort()).toEqual([...NEVER_EMPTY].sort());
  });

  test('shows every dispatch status', () => {
    const crews = groupBy(data['job-assignments']!, 'appointment_id');
    const seen = data['job-appointments']!.map((visit) => dispatchStatus(visit, crews.get(visit.id) ?? []));
    expect(new Set(seen)).toEqual(new Set(spellings(DispatchStatus)));
  });

  test('shows every aging bucket, an invoice due today, one due later and one without a due date', () => {
    const agings = data.invoices!.flatMap((invoice) => agingOf(invoice, SMALL.timezone, SMALL.until) ?? []);
    expect(new Set(agings.map(({ bucket }) => bucket))).toEqual(new Set(spellings(AgingBucket)));
    const days = agings.map((aging) => aging.days);
    expect(days).toContain(0);
    expect(days).toContain(null);
    expect(days.some((day) => day !== null && day < 0)).toBe(true);
  });

  test('shows every payment status on an invoice, including none', () => {
    const statuses = [...applicationsOf(data.payments!).values()].flat().map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([...spellings(PaymentStatus), null]));
  });

  test('has jobs without a visit, and running time entries', () => {
    const visited = groupBy(data['job-appointments']!, 'job_id');
    expect(data.jobs!.some(({ id }) => !visited.has(id))).toBe(true);
    expect(data['time-entries']!.filter(({ ends_at }) => ends_at === null).length).toBeGreaterThan(2);
  });
});
