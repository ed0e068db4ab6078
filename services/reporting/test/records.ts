import { randomUUID } from 'node:crypto';
import { codec, readMessage, resource, topics } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import type { ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Database, Transaction } from '@truckroll/postgres';
import { importBatch } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { applyTo, type ReadModel } from '../src/read-models/read-model.ts';
import { tables } from '../src/resources/index.ts';
import { sumRound, type Round } from '../src/sums/task.ts';

export type Line = Record<string, any>;
export const AT = '2026-03-01T15:00:00Z';
const ref = (name = 'Whitfield Residence') => ({ id: randomUUID(), name });

export function job(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    number: 'J-1',
    account: ref(),
    location_id: randomUUID(),
    lifecycle: ref(),
    job_class: 'SERVICE',
    status: { id: randomUUID(), name: 'New', stage: 'NEW', is_work_complete: false },
    priority: 'NORMAL',
    tags: [],
    created_at: AT,
    updated_at: AT,
    ...fields,
  };
}

export function invoice(job_id: string, subtotal_cents: number): Line {
  return {
    id: randomUUID(),
    number: 'INV-1',
    status: 'OPEN',
    account: ref(),
    job_id,
    created_at: AT,
    updated_at: AT,
    issued_at: AT,
    currency: 'USD',
    pricing_multiplier: 1,
    line_items: [],
    discounts: [],
    tax: { name: 'None', rate: 0, rounding: 'round' },
    amounts: { subtotal_cents, discount_cents: 0, discounted_subtotal_cents: subtotal_cents, tax_cents: 0, total_cents: subtotal_cents },
  };
}

export function financials(id: string, ...costs: number[]): Line {
  return {
    id,
    number: 'J-9',
    account: ref(),
    location_id: randomUUID(),
    created_at: AT,
    report_date: '2026-03-01',
    report_date_basis: 'JOB_CREATED',
    currency: 'USD',
    costing: { tracking_status: 'TRACKED', verification_status: 'VERIFIED', job_type_included: false },
    cost_entries: costs.map((total_cents) => ({
      id: randomUUID(),
      category: 'parts',
      source: 'manual',
      name: 'x',
      quantity: 1,
      quantity_unit: 'unit',
      unit_cost_cents: 1,
      total_cents,
      created_at: AT,
      updated_at: AT,
    })),
  };
}

export function payment(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    account: ref(),
    status: 'PAID',
    method: 'CHECK',
    amount_cents: 1,
    currency: 'USD',
    occurred_at: AT,
    created_at: AT,
    invoice_allocations: [],
    ...fields,
  };
}

export function refund(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    payment_id: randomUUID(),
    account: ref(),
    status: 'SUCCEEDED',
    payment_method: 'CHECK',
    amount_cents: 1,
    currency: 'USD',
    occurred_at: AT,
    created_at: AT,
    ...fields,
  };
}

export function assignment(job_id: string, fields: Line = {}): Line {
  return {
    id: randomUUID(),
    job_id,
    appointment_id: randomUUID(),
    team_member: ref('Ana Ruiz'),
    starts_at: AT,
    ends_at: '2026-03-01T16:00:00Z',
    status: 'TO_DO',
    status_updated_at: AT,
    created_at: AT,
    ...fields,
  };
}

export function messageOf(path: string, line: Line): unknown {
  const { value, problems } = readMessage(resource(path).record, line);
  expect(problems).toEqual([]);
  return value;
}

export function eventOf(company: string, path: string, line: Line): IncomingEvent {
  const payload = Buffer.from(codec(resource(path).record.typeName).encode(messageOf(path, line)).finish());
  return { companyId: company, key: `${company}/${line['id']}`, payload } as IncomingEvent;
}

export const removal = (company: string, id: string): IncomingEvent => ({ companyId: company, key: `${company}/${id}`, payload: null }) as IncomingEvent;

export const apply = (tx: Transaction, company: string, model: ReadModel, path: string, ...lines: Line[]): Promise<void> =>
  applyTo(
    model,
    tx,
    lines.map((line) => eventOf(company, path, line)),
  );

/** A company whose settings came from no event. */
export async function newCompany(database: Database, timeZone = 'America/Chicago'): Promise<string> {
  const id = randomUUID();
  await database.query({
    text: `insert into companies (company_id, time_zone, costing_enabled, verified_only, projection) values ($1, $2, true, false, 1)`,
    values: [id, timeZone],
  });
  return id;
}

export const SETTINGS = { timezone: 'America/Chicago', costing_enabled: true, verified_only: false };

/** The event of a company's settings. */
export function settingsOf(company: string, settings: typeof SETTINGS, time = Date.parse(AT) * 1000) {
  const payload = Buffer.from(CompanyAccount.encode({ ...CompanyAccount.decode(new Uint8Array()), id: company, ...settings }).finish());
  return { companyId: company, key: company, time, payload } as IncomingEvent & { payload: Buffer };
}

export function importLines(database: Database, company: string, ...lines: Line[]): Promise<ImportResponse> {
  const batch = { company_id: company, path: 'job-financials', first_line: 1, lines: lines.map((line) => Buffer.from(JSON.stringify(line))) };
  return importBatch(database, tables, batch, { log: silentLog, requestId: 'test' });
}

export async function importFinancials(...batch: Parameters<typeof importLines>): Promise<void> {
  expect((await importLines(...batch)).problems).toEqual([]);
}

/** Version 7 of record `1` could not be applied. */
export async function deadLetter(database: Database, company: string, time: number, topic = topics.payments.name): Promise<void> {
  await database.query({
    text: `insert into parked_event (consumer, topic, partition, log_offset, key, headers, reason)
      values ('reporting', $1, 0, (select count(*) from parked_event), $2, $3, 'broken')`,
    values: [topic, `${company}/1`, JSON.stringify({ companyId: company, version: '7', time: String(time) })],
  });
}

/** Sums everything that is due, of every company, months included. */
export async function build(database: Database, round: Round = {}): Promise<void> {
  while ((await sumRound(database, { quietMs: 0, ...round })) > 0);
}
