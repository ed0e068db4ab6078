import { resource } from '@truckroll/contract';
import { parseInstant } from '../src/time.ts';
import { SMALL, loadCompany, type Json } from './company.ts';
import { applicationsOf, groupBy } from './derived.ts';
import { namesOf, strays } from './references.ts';

const until = parseInstant(SMALL.until);
const at = (text: string) => parseInstant(text);
const isReference = (value: object): boolean => Object.keys(value).join() === 'id,name';

describe.each(['small', 'business'] as const)('a company of size %s', (size) => {
  const data = loadCompany({ size });

  test('every reference names an existing record, by its current name', () => {
    const known = namesOf(data);
    for (const [path, records] of Object.entries(data)) expect(strays(resource(path), records, known)).toEqual([]);
  });

  test('ids are unique among all records and their children, except that job financials share their job’s id', () => {
    const seen = new Set<string>();
    const twice: string[] = [];
    const visit = (value: unknown, key: string) => {
      if (Array.isArray(value)) value.forEach((item) => visit(item, key));
      else if (value !== null && typeof value === 'object' && !(isReference(value) || key === 'status')) {
        const { id } = value as Json;
        if (id !== undefined && (seen.has(id) || !seen.add(id))) twice.push(`${key} ${id}`);
        for (const [name, inner] of Object.entries(value)) visit(inner, name);
      }
    };
    for (const [path, records] of Object.entries(data)) if (path !== 'job-financials') visit(records, path);
    expect(twice).toEqual([]);
    expect(data['job-financials']!.map(({ id }) => id)).toEqual(data.jobs!.map(({ id }) => id));
  });

  test('numbers are unique within their path', () => {
    for (const path of ['jobs', 'job-appointments', 'job-leads', 'estimates', 'invoices', 'payments']) {
      const numbers = data[path]!.map(({ number }) => number).filter((number) => number !== null);
      expect(new Set(numbers).size).toBe(numbers.length);
    }
  });

  test('no record is created or edited after the end, or edited before it was created', () => {
    for (const [path, records] of Object.entries(data)) {
      for (const record of records) {
        const created = at(record.created_at);
        expect(created).toBeLessThanOrEqual(until);
        if (typeof record.updated_at !== 'string') continue;
        if (at(record.updated_at) < created || at(record.updated_at) > until) throw new Error(`${path} ${JSON.stringify(record)}`);
      }
    }
  });

  test('no job is booked for an account, location or contact before it was created', () => {
    const since = (path: string) => new Map(data[path]!.map(({ id, created_at }) => [id, at(created_at)]));
    const [accounts, locations, contacts] = [since('accounts'), since('locations'), since('contacts')];
    for (const { created_at, account, location_id, contact } of data.jobs!) {
      expect(accounts.get(account.id)).toBeLessThan(at(created_at));
      expect(locations.get(location_id)).toBeLessThan(at(created_at));
      if (contact) expect(contacts.get(contact.id)).toBeLessThan(at(created_at));
    }
  });

  test('visits start within their window and after their booking; assignments stay within their visit', () => {
    const visits = new Map(data['job-appointments']!.map((visit) => [visit.id, visit]));
    for (const visit of visits.values()) {
      expect(at(visit.window_start_at)).toBeLessThanOrEqual(at(visit.starts_at));
      expect(at(visit.starts_at)).toBeLessThan(at(visit.window_end_at));
      expect(at(visit.starts_at)).toBeLessThan(at(visit.ends_at));
      expect(at(visit.created_at)).toBeLessThanOrEqual(at(visit.starts_at));
    }
    for (const assignment of data['job-assignments']!) {
      const visit = visits.get(assignment.appointment_id)!;
      expect(assignment.job_id).toBe(visit.job_id);
      expect(at(assignment.starts_at)).toBeGreaterThanOrEqual(at(visit.starts_at));
      expect(at(assignment.starts_at)).toBeLessThan(at(assignment.ends_at));
      expect(assignment.ends_at).toBe(visit.ends_at);
      expect(at(assignment.status_updated_at)).toBeGreaterThanOrEqual(at(assignment.created_at));
      expect(at(assignment.status_updated_at)).toBeLessThanOrEqual(until);
    }
  });

  test('no technician is on a visit twice, or sent after leaving', () => {
    const members = new Map(data['team-members']!.map((member) => [member.id, member]));
    for (const crew of groupBy(data['job-assignments']!, 'appointment_id').values()) {
      expect(new Set(crew.map(({ team_member }) => team_member.id)).size).toBe(crew.length);
      for (const { team_member, starts_at } of crew) {
        const { status, updated_at } = members.get(team_member.id)!;
        expect(status).not.toBe('INVITED');
        if (status === 'INACTIVE') expect(at(starts_at)).toBeLessThan(at(updated_at));
      }
    }
  });

  test('a stage matches the facts: completed and canceled jobs have a date, and only past visits have work', () => {
    for (const job of data.jobs!) {
      expect(job.canceled_at !== null).toBe(job.status.stage === 'CANCELED');
      expect(job.completed_at !== null).toBe(['COMPLETED', 'WON', 'LOST'].includes(job.status.stage));
      for (const moment of [job.completed_at, job.canceled_at]) if (moment) expect(at(moment)).toBeGreaterThanOrEqual(at(job.created_at));
    }
  });

  test('time entries end after they start, and are on the sheet of their member and period', () => {
    const sheets = new Map(data.timesheets!.map((sheet) => [sheet.id, sheet]));
    for (const entry of data['time-entries']!) {
      expect(at(entry.starts_at)).toBeLessThanOrEqual(until);
      if (entry.ends_at) expect(at(entry.ends_at)).toBeGreaterThan(at(entry.starts_at));
      const sheet = sheets.get(entry.timesheet_id);
      if (sheet) expect(sheet.team_member).toEqual(entry.team_member);
    }
  });

  test('allocations never exceed the payment, and one payment settles several invoices of its account', () => {
    const accounts = new Map(data.invoices!.map(({ id, account }) => [id, account.id]));
    for (const payment of data.payments!) {
      const applied = payment.invoice_allocations.reduce((sum: number, { applied_cents }: Json) => sum + applied_cents, 0);
      expect(applied).toBeLessThanOrEqual(payment.amount_cents);
      for (const { invoice_id } of payment.invoice_allocations) expect(accounts.get(invoice_id)).toBe(payment.account.id);
    }
    expect(data.payments!.filter(({ invoice_allocations }) => invoice_allocations.length > 1).length).toBeGreaterThan(2);
    expect(data.payments!.some(({ invoice_allocations }) => invoice_allocations.length === 0)).toBe(true);
  });

  test('paid invoices are covered by paid payments, drafts have no payments, and some open invoices are overpaid', () => {
    const applications = applicationsOf(data.payments!);
    let overpaid = 0;
    for (const { id, status, amounts } of data.invoices!) {
      const paid = (applications.get(id) ?? []).reduce((sum, payment) => sum + (payment.status === 'PAID' ? payment.cents : 0), 0);
      if (status === 'PAID') expect(paid).toBe(Math.max(0, amounts.total_cents));
      if (status === 'DRAFT') expect(paid).toBe(0);
      if (status === 'OPEN' && paid > amounts.total_cents) overpaid++;
    }
    expect(overpaid).toBeGreaterThan(0);
  });

  test('refunds never exceed the payment', () => {
    const payments = new Map(data.payments!.map((payment) => [payment.id, payment]));
    for (const [id, refunds] of groupBy(data.refunds!, 'payment_id')) {
      const { status, amount_cents } = payments.get(id)!;
      expect(status).toBe('PAID');
      expect(refunds.reduce((sum, refund) => sum + refund.amount_cents, 0)).toBeLessThanOrEqual(amount_cents);
    }
  });
});
