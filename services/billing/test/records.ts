// Lines for an import, with defaults for fields that a test does not care about.
import { randomUUID } from 'node:crypto';
import type { ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import type { Database } from '@truckroll/postgres';
import { importBatch } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { tables } from '../src/resources/index.ts';

export type Line = Record<string, unknown>;
export const AT = '2026-03-01T15:00:00Z';
export const account = { id: randomUUID(), name: 'Whitfield Residence' };

export function invoice(fields: Line = {}): Line & { id: string } {
  return {
    id: randomUUID(),
    number: 'INV-1',
    status: 'OPEN',
    account,
    created_at: AT,
    updated_at: AT,
    issued_at: AT,
    currency: 'USD',
    pricing_multiplier: 1,
    line_items: [],
    discounts: [],
    tax: { name: 'None', rate: 0, rounding: 'round' },
    amounts: { subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
    ...fields,
  };
}

export function payment(applied: Record<string, number>, fields: Line = {}): Line & { id: string } {
  return {
    id: randomUUID(),
    account,
    status: 'PAID',
    method: 'CHECK',
    amount_cents: 1,
    currency: 'USD',
    occurred_at: AT,
    created_at: AT,
    invoice_allocations: Object.entries(applied).map(([invoice_id, applied_cents]) => ({ invoice_id, applied_cents })),
    ...fields,
  };
}

export const importLines = (database: Database, company_id: string, path: string, lines: readonly Line[]): Promise<ImportResponse> =>
  importBatch(
    database,
    tables,
    { company_id, path, first_line: 1, lines: lines.map((line) => Buffer.from(JSON.stringify(line))) },
    { log: silentLog, requestId: 'test' },
  );
