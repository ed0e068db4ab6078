// Everything that a deletion removes is exported before, or listed here with the reason why not: also each column.
import { changeKinds, owners, type Owner } from '@truckroll/contract';
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { keyedRules, rulesOf } from '../../packages/erasure/src/tables.ts';
import type { ExportedTable } from '../../packages/erasure/src/index.ts';
import { exportedTables } from '../../services/integrations/src/companies/exported.ts';
import { rules } from '../../services/integrations/src/companies/leave.ts';
import { exportedNotifications } from '../../services/scheduling/src/notifications/exported.ts';
import { SCHEMAS } from '../support/components.ts';

const EXPORTED: Partial<Record<Owner, readonly ExportedTable[]>> = { integrations: exportedTables, scheduling: [exportedNotifications] };

const FILTERS = 'values of records, for filters';
const SEARCH = 'words of records, for searches';
const READ_MODEL = 'a copy of records of other services';
const SUMS = 'sums of records';
const WORK = 'work in progress';

/** Tables of any schema. */
const INTERNAL: Readonly<Record<string, string>> = {
  change_compactions: WORK,
  erased_companies: 'the deletion',
  erased_people: 'ids of people who were erased',
  frozen_companies: 'since when it is frozen, which the audit trail has too',
  inbox_version: 'versions of events',
  moves: 'how far the company is on its way to another cell',
  names: 'names of records',
  parked_event: 'events with copies of records that could not be applied',
  record_changes: 'which records changed',
  shifts: 'what is added to versions of changes',
  unpublished: WORK,
};

const NOT_EXPORTED: Readonly<Record<Owner, Readonly<Record<string, string>>>> = {
  integrations: {
    company_budgets: 'counters of a day',
    company_places: 'in which cell it lives',
    webhook_attempts: 'in the lines of webhook_deliveries',
    webhook_counts: SUMS,
    webhook_events: 'in the lines of webhook_event_log',
    webhook_queue: WORK,
    webhook_rates: WORK,
    webhook_recoveries: WORK,
    webhook_replays: WORK,
  },
  scheduling: {
    account_entries: SEARCH,
    account_locations: FILTERS,
    account_tags: FILTERS,
    contact_entries: SEARCH,
    equipment_entries: SEARCH,
    equipment_warranties: FILTERS,
    idempotency_keys: 'answers to writes, for their repetition',
    job_appointment_entries: SEARCH,
    job_appointment_team_members: FILTERS,
    job_entries: SEARCH,
    job_lead_entries: SEARCH,
    job_tags: FILTERS,
    job_team_members: FILTERS,
    location_accounts: FILTERS,
    location_entries: SEARCH,
    service_request_numbers: 'the number of the latest service request',
    tag_targets: FILTERS,
    team_member_entries: SEARCH,
  },
  billing: { estimate_entries: SEARCH, invoice_entries: SEARCH, payment_allocations: FILTERS, payment_entries: SEARCH },
  reporting: {
    ...Object.fromEntries(['assignments', 'companies', 'invoices', 'job_facts', 'jobs', 'payments', 'refunds'].map((table) => [table, READ_MODEL])),
    ...Object.fromEntries(
      ['collection', 'invoice', 'job', 'participation'].flatMap((fact) =>
        ['combinations', 'crosses', 'summaries', 'sums'].map((kind) => [`${fact}_${kind}`, SUMS]),
      ),
    ),
    due_months: WORK,
    due_notes: WORK,
    financials_to_refresh: WORK,
    generations: WORK,
    spoiled_summaries: WORK,
    summed: WORK,
  },
};

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase(Object.fromEntries(SCHEMAS.map((each) => [each.schema, each.migrations])));
  database = new Database({ url: fresh.url, maxConnections: 1 });
  drop = fresh.drop;
});
afterAll(async () => {
  await database.close();
  await drop();
});

async function clearedIn(owner: Owner): Promise<string[]> {
  return await database.transaction(async (tx) => {
    await tx.query({ text: `select set_config('search_path', $1, true)`, values: [owner] });
    const found = await rulesOf(tx, [...(owner === 'integrations' ? rules : []), ...keyedRules([])]);
    return [...new Set(found.flatMap((rule) => [rule.table, ...Object.keys(rule.with?.rows ?? {})]))];
  });
}

test.each(owners)('%s exports every table that a deletion clears, except those listed', async (owner) => {
  const cleared = new Set(await clearedIn(owner));
  const kinds = changeKinds.filter((kind) => kind.owner === owner).map(({ kind }) => (kind === 'company' ? 'companies' : kind.replaceAll('-', '_')));
  const exported = [...kinds, ...(EXPORTED[owner] ?? []).map(({ table }) => table)];
  const reasons = { ...INTERNAL, ...NOT_EXPORTED[owner] };
  expect([...cleared].filter((table) => !exported.includes(table) && reasons[table] === undefined)).toEqual([]);
  // What is listed exists, and is not exported.
  expect(exported.filter((table) => !cleared.has(table) || reasons[table] !== undefined)).toEqual([]);
  expect(Object.keys(NOT_EXPORTED[owner]).filter((table) => !cleared.has(table))).toEqual([]);
});

test.each(Object.entries(EXPORTED).flatMap(([owner, tables]) => tables.map((table) => [`${owner}.${table.table}`, table] as const)))(
  '%s: every column is exported, or left out for a reason',
  async (name, { key, columns, values = {}, document, without }) => {
    const { rows } = await database.query<{ column: string }>({
      text: `select attname::text as column from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      values: [name],
    });
    const all = rows.map(({ column }) => column);
    const left = Object.keys(without);
    const given = [...columns, ...Object.keys(values), ...(document === undefined ? [] : [document.column])];
    expect(all.filter((column) => !given.includes(column) && !left.includes(column))).toEqual([]);
    expect([...columns, ...left, ...Object.keys(key)].filter((column) => !all.includes(column))).toEqual([]);
    expect(given.filter((column) => left.includes(column))).toEqual([]);
  },
);
