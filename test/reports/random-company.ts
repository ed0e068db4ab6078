// Edge cases for reports: times at day boundaries in zones that skip and repeat days, unknown references, corrections and backdating.
import fc from 'fast-check';
import { generateCompany } from '@truckroll/demo-company';
import type { Json } from '../support/expected.ts';
import { addDays, firstMillisecond } from './oracle/dates.ts';

/** Zones with an unusual day each: skipped, partly repeated, starting an hour late, longer, or ordinary. */
const ZONES = [
  ['America/Chicago', '2025-11-02'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Kwajalein', '1993-08-21'],
  ['America/St_Johns', '2010-11-07'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['Africa/Cairo', '2024-04-26'],
  ['Asia/Kathmandu', '1986-01-01'],
  ['UTC', '2024-02-29'],
] as const;

export interface Settings {
  timezone: string;
  costing: boolean;
  verifiedOnly: boolean;
}

/** Ids that records refer to. The last of each kind is never imported. */
export interface Cast {
  accounts: string[];
  units: string[];
  types: string[];
  members: string[];
}

type Lines = [path: string, lines: Json[]][];

export interface RandomCompany {
  around: string;
  cast: Cast;
  first: Settings;
  then: Settings;
  lines: Lines;
  again: Lines;
}

const JOB_CLASSES = ['SERVICE', 'INSTALL', 'UNKNOWN', null] as const;
const METHODS = ['CARD', 'CASH', 'CHECK'] as const;

const templates = Object.fromEntries(
  generateCompany({ seed: 1, size: 20, timezone: 'America/Chicago', until: '2026-03-10T16:00:00Z' }).map(({ path, records }) => [
    path,
    [...records][0] as Json,
  ]),
);

const line = (path: string, fields: Json): Json => ({ ...templates[path], ...fields });
const named = (id: string | null): Json | null => (id === null ? null : { id, name: `Line ${id.slice(0, 8)}` });

/** Mostly small, sometimes far beyond 32 bits; adjustments are negative. */
const cents = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: -2_000, max: 90_000 }) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 44 }) });

function moments(timeZone: string, around: string): fc.Arbitrary<string> {
  const border = fc.tuple(fc.integer({ min: -3, max: 4 }), fc.constantFrom('-', '0', '+', 'later')).map(([days, side]) => {
    const first = firstMillisecond(addDays(around, days), timeZone);
    if (side === '-') return new Date(first - 1).toISOString().replace('Z', '999Z');
    // When clocks go back across midnight, local clocks show the previous day again.
    if (side === 'later') return new Date(first + 1_800_000).toISOString();
    return new Date(first).toISOString().replace('Z', side === '+' ? '001Z' : '000Z');
  });
  const anywhere = fc.integer({ min: -400 * 86_400_000, max: 60 * 86_400_000 }).map((ms) => new Date(Date.parse(around) + ms).toISOString());
  return fc.oneof({ weight: 2, arbitrary: border }, { weight: 1, arbitrary: anywhere });
}

function versions<T>(one: (id: string) => fc.Arbitrary<T>, most: number): fc.Arbitrary<T[][]> {
  const record = fc.uuid().chain((id) => fc.array(one(id), { minLength: 1, maxLength: 2 }));
  return fc.array(record, { minLength: 1, maxLength: most });
}

export const randomCompany: fc.Arbitrary<RandomCompany> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    moved: fc.option(fc.constantFrom(...ZONES), { freq: 3, nil: null }),
    ids: fc.array(fc.uuid(), { minLength: 14, maxLength: 14 }),
  })
  .chain(({ zone: [timezone, around], moved, ids }) => {
    const cast: Cast = { accounts: ids.slice(0, 3), units: ids.slice(3, 6), types: ids.slice(6, 9), members: ids.slice(9, 13) };
    const moment = moments(timezone, around);
    const one = (of: readonly string[]) => fc.constantFrom(...of);
    const maybe = (of: readonly string[]) => fc.option(one(of), { freq: 5, nil: null });
    const work = fc.record({ account: one(cast.accounts), unit: maybe(cast.units), type: maybe(cast.types), jobClass: fc.constantFrom(...JOB_CLASSES) });
    const workFields = ({ account, unit, type, jobClass }: { account: string; unit: string | null; type: string | null; jobClass: string | null }) => ({
      account: named(account),
      business_unit: named(unit),
      job_type: named(type),
      job_class: jobClass,
    });

    const job = (id: string) =>
      fc.record({ work, created: moment, completed: fc.option(moment, { nil: null }) }).map(({ work: of, created, completed }) =>
        line('jobs', {
          id,
          number: id.slice(0, 6),
          ...workFields(of),
          created_at: created,
          completed_at: completed,
          canceled_at: null,
          cancellation_reason: null,
        }),
      );
    const money = fc.record({
      costs: fc.array(fc.tuple(fc.uuid(), fc.constantFrom('labor', 'parts', 'equipment', 'misc', 'other'), cents), { maxLength: 4 }),
      tracked: fc.integer({ min: 0, max: 4 }),
      verified: fc.boolean(),
      included: fc.integer({ min: 0, max: 3 }),
    });
    const moneyTwice = fc.tuple(money, fc.option(money, { nil: null }));
    const seats = fc.array(fc.record({ id: fc.uuid(), member: one(cast.members), then: fc.option(one(cast.members), { nil: null }) }), { maxLength: 3 });

    const invoice = (jobs: readonly string[]) => (id: string) =>
      fc
        .record({
          work,
          job: fc.option(fc.constantFrom(...jobs), { freq: 6, nil: null }),
          status: fc.constantFrom('OPEN', 'PAID', 'OPEN', 'PAID', 'DRAFT', 'VOIDED', 'UNCOLLECTABLE'),
          issued: fc.option(moment, { freq: 6, nil: null }),
          created: moment,
          amounts: fc.tuple(cents, cents, cents),
        })
        .map(({ work: of, job: jobId, status, issued, created, amounts: [subtotal, discount, tax] }) => {
          const [item] = templates['invoices']!['line_items'] as [Json];
          const amounts = {
            subtotal_cents: subtotal,
            discount_cents: discount,
            discounted_subtotal_cents: subtotal - discount,
            tax_cents: tax,
            total_cents: subtotal - discount + tax,
          };
          return line('invoices', {
            id,
            number: id.slice(0, 6),
            status,
            ...workFields(of),
            job_id: jobId,
            issued_at: issued,
            due_at: null,
            created_at: created,
            line_items: [{ ...item, quantity: 1, unit_price_cents: subtotal, subtotal_cents: subtotal }],
            amounts,
          });
        });
    const payer = fc.record({ account: one(cast.accounts), method: fc.constantFrom(...METHODS), collector: maybe(cast.members) });
    const payment = (id: string) =>
      fc
        .record({ payer, status: fc.constantFrom('PAID', 'PAID', 'PAID', 'FAILED', 'PENDING', null), amount: cents, occurred: moment })
        .map(({ payer: of, status, amount, occurred }) =>
          line('payments', {
            id,
            account: named(of.account),
            method: of.method,
            collected_by: named(of.collector),
            status,
            amount_cents: amount,
            occurred_at: occurred,
            invoice_allocations: [],
          }),
        );
    const refund = (payments: readonly string[]) => (id: string) =>
      fc
        .record({
          payer,
          paymentId: fc.constantFrom(...payments),
          status: fc.constantFrom('SUCCEEDED', 'SUCCEEDED', 'FAILED', 'PENDING'),
          amount: cents,
          occurred: moment,
        })
        .map(({ payer: of, paymentId, status, amount, occurred }) =>
          line('refunds', {
            id,
            payment_id: paymentId,
            account: named(of.account),
            payment_method: of.method,
            collected_by: named(of.collector),
            status,
            amount_cents: amount,
            occurred_at: occurred,
          }),
        );

    const settings = fc.record({ costing: fc.constantFrom(true, true, true, false), verifiedOnly: fc.boolean() });
    return fc.record({ jobs: versions(job, 8), payments: versions(payment, 8), first: settings, then: settings }).chain(({ jobs, payments, first, then }) => {
      const jobIds = jobs.map(([of]) => of!['id'] as string);
      const paymentIds = [...payments.map(([of]) => of!['id'] as string), ids[13] as string];
      return fc
        .record({
          invoices: versions(invoice([...jobIds, ids[13] as string]), 12),
          refunds: versions(refund(paymentIds), 6),
          money: fc.array(moneyTwice, { minLength: jobIds.length, maxLength: jobIds.length }),
          seats: fc.array(seats, { minLength: jobIds.length, maxLength: jobIds.length }),
        })
        .map(
          ({ invoices, refunds, money: ofJobs, seats: inJobs }): RandomCompany => ({
            around,
            cast,
            first: { timezone, ...first },
            then: { timezone: moved?.[0] ?? timezone, ...then },
            ...linesOf(cast, { jobs, invoices, payments, refunds, money: ofJobs, seats: inJobs }),
          }),
        );
    });
  });

interface Money {
  costs: [id: string, category: string, cents: number][];
  tracked: number;
  verified: boolean;
  included: number;
}

interface Seat {
  id: string;
  member: string;
  then: string | null;
}

interface Parts {
  jobs: Json[][];
  invoices: Json[][];
  payments: Json[][];
  refunds: Json[][];
  money: [Money, Money | null][];
  seats: Seat[][];
}

function linesOf(cast: Cast, parts: Parts): { lines: Lines; again: Lines } {
  const known = (path: string, ids: readonly string[]): [string, Json[]] => [path, ids.slice(0, -1).map((id, n) => line(path, { id, name: `${path} ${n}` }))];
  const jobs = parts.jobs.map(([of]) => of as Json);
  const visits = jobs.map(({ id }, n) => line('job-appointments', { id: visitOf(id), number: `V${n}`, job_id: id }));
  const assignments = (memberOf: (seat: Seat) => string | null): Json[] =>
    parts.seats.flatMap((seats, n) => {
      const { id: job_id } = jobs[n] as Json;
      // A member is on a visit only once, even after changes of seats.
      const distinct = seats.filter(
        ({ member, then }, at) => !seats.slice(0, at).some((other) => [other.member, other.then].some((id) => id !== null && [member, then].includes(id))),
      );
      return distinct.flatMap((seat) => {
        const member = memberOf(seat);
        return member === null ? [] : [line('job-assignments', { id: seat.id, job_id, appointment_id: visitOf(job_id), team_member: named(member) })];
      });
    });
  const financials = (version: 0 | 1): Json[] =>
    parts.money.flatMap((money, n) => (money[version] === null ? [] : [financialsOf(jobs[n] as Json, money[version])]));
  const at = (records: Json[][], version: number): Json[] => records.flatMap((of) => of[version] ?? []);
  return {
    lines: [
      known('accounts', cast.accounts),
      known('business-units', cast.units),
      known('job-types', cast.types),
      known('team-members', cast.members),
      ['jobs', at(parts.jobs, 0)],
      ['job-appointments', visits],
      ['job-assignments', assignments(({ member }) => member)],
      ['invoices', at(parts.invoices, 0)],
      // A refund may arrive before its payment.
      ['refunds', at(parts.refunds, 0)],
      ['payments', at(parts.payments, 0)],
      ['job-financials', financials(0)],
    ],
    again: [
      ['jobs', at(parts.jobs, 1)],
      ['job-assignments', assignments(({ then }) => then)],
      ['invoices', at(parts.invoices, 1)],
      ['payments', at(parts.payments, 1)],
      ['refunds', at(parts.refunds, 1)],
      ['job-financials', financials(1)],
    ],
  };
}

function financialsOf({ id, number, account, business_unit, job_type, job_class, created_at }: Json, { costs, tracked, verified, included }: Money): Json {
  const costing = {
    tracking_status: tracked === 0 ? 'UNTRACKED' : 'TRACKED',
    verification_status: verified ? 'VERIFIED' : 'UNVERIFIED',
    job_type_included: included !== 0,
  };
  const entries = costs.map(([entry, category, total]) => ({
    id: entry,
    category,
    source: 'manual',
    name: 'x',
    quantity: 1,
    quantity_unit: 'unit',
    unit_cost_cents: total,
    total_cents: total,
    labor_activity: null,
    misc_category: null,
    pricebook_item_id: null,
    created_at,
    updated_at: created_at,
  }));
  return line('job-financials', { id, number, account, business_unit, job_type, job_class, created_at, costing, cost_entries: entries });
}

function visitOf(jobId: string): string {
  return `${jobId.slice(0, -1)}${jobId.endsWith('0') ? '1' : '0'}`;
}
