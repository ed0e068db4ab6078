import { generateInvoices, generateVisits, type DemoFile } from '../src/index.ts';
import { SMALL, type Json } from './company.ts';
import { Coverage } from './coverage.ts';
import { dispatchStatus, groupBy } from './derived.ts';

const { timezone, until } = SMALL;

function load(files: readonly DemoFile[]): Record<string, Json[]> {
  return Object.fromEntries(files.map(({ path, records }) => [path, [...records] as Json[]]));
}

describe('invoices for benchmarks', () => {
  const companies = [...generateInvoices({ seed: 9, companies: 3, invoicesPerCompany: 200, timezone, until })];
  const loaded = companies.map(({ files }) => load(files));

  test('have the public shape', () => {
    for (const { files } of companies) expect(new Coverage().read(files).misfits).toEqual([]);
  });

  test('have three lines, one discount and one payment that is applied to them', () => {
    for (const data of loaded) {
      expect(data.invoices).toHaveLength(200);
      const payments = new Map(data.payments!.map((payment) => [payment.invoice_allocations[0].invoice_id, payment]));
      for (const { id, line_items, discounts, account, amounts } of data.invoices!) {
        expect([line_items.length, discounts.length]).toEqual([3, 1]);
        const { invoice_allocations: allocations, account: payer } = payments.get(id)!;
        expect(allocations).toEqual([{ invoice_id: id, applied_cents: amounts.total_cents }]);
        expect(payer).toEqual(account);
      }
    }
  });

  test('name existing accounts, members, units and types', () => {
    for (const data of loaded) {
      const known = new Set(
        Object.values(data)
          .flat()
          .map(({ id }) => id),
      );
      for (const { account, created_by, business_unit, job_type } of data.invoices!) {
        for (const { id } of [account, created_by, business_unit, job_type]) expect(known.has(id)).toBe(true);
      }
    }
  });

  test('belong to companies that share no id', () => {
    const ids = loaded.map((data) =>
      Object.values(data)
        .flat()
        .map(({ id }) => id),
    );
    expect(new Set(ids.flat()).size).toBe(ids.flat().length);
    expect(new Set(companies.map(({ seed }) => seed)).size).toBe(3);
  });
});

describe('visits for benchmarks', () => {
  const files = generateVisits({ seed: 4, visits: 4_000, timezone, until });
  const data = load(files);

  test('have the requested number, with twice as many assignments', () => {
    expect(data['job-appointments']).toHaveLength(4_000);
    expect(data['job-assignments']).toHaveLength(8_000);
    expect(data['team-members']).toHaveLength(400);
    expect(() => generateVisits({ seed: 4, visits: 50, timezone, until })).toThrow('visits must be a multiple of 40, not 50');
  });

  test('have the public shape', () => {
    expect(new Coverage().read(files).misfits).toEqual([]);
  });

  test('are unevenly spread under every filter: some values are rare, some members and accounts busy', () => {
    const crews = groupBy(data['job-assignments']!, 'appointment_id');
    const statuses = data['job-appointments']!.map((visit) => dispatchStatus(visit, crews.get(visit.id) ?? []));
    const share = (status: string) => statuses.filter((other) => other === status).length / statuses.length;
    expect(share('COMPLETED')).toBeGreaterThan(0.6);
    for (const rare of ['ASSIGNED', 'DISPATCHED', 'IN_PROGRESS', 'CANCELED', 'UNASSIGNED']) {
      expect(share(rare)).toBeGreaterThan(0);
      expect(share(rare)).toBeLessThan(0.2);
    }
    const members = groupBy(
      data['job-assignments']!.map(({ team_member }) => team_member),
      'id',
    );
    const loads = [...members.values()].map(({ length }) => length).sort((x, y) => y - x);
    expect(loads.length).toBeGreaterThan(250);
    expect(loads[0]).toBeGreaterThan(5 * loads[200]!);
  });
});
