// The read that must follow from an imported line, computed from the contract alone.
import type { Field, Resource, Shape } from '@truckroll/contract';

export type Json = Record<string, any>;

/** The stored part of a record as a read returns it, without derived fields and names of references. */
export function recorded(shape: Shape, record: Json): Json {
  const out: Json = {};
  for (const field of shape.fields) {
    if (field.derived) continue;
    const value = record[field.name] ?? null;
    out[field.name] = Array.isArray(value) ? value.map((element) => recordedValue(field, element)) : recordedValue(field, value);
  }
  return out;
}

function recordedValue(field: Field, value: any): unknown {
  if (value === null) return null;
  if (field.kind === 'reference') return value.id;
  if (field.kind === 'list') return value;
  if (field.shape !== undefined) return recorded(field.shape, value);
  return value;
}

export function valuesAt(record: any, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>((values, name) => values.flatMap((value: any) => (value == null ? [] : (value[name] ?? []))), [record]);
}

/** Public order of a collection (api.md, policy 8). */
export function inOrder(of: Resource, records: readonly Json[]): Json[] {
  const instant = (record: Json): string => {
    const [seconds, fraction = ''] = String(record['created_at']).replace('Z', '').split('.');
    return `${seconds}.${fraction.padEnd(6, '0')}`;
  };
  const key = (record: Json): string => (of.order === 'id' ? record['id'] : `${instant(record)} ${record['id']}`);
  return [...records].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Filters with a special rule in the service that stores the record (an empty field in the contract). */
export const OWN_RULES: Record<string, (record: Json, value: unknown, all: Everything) => boolean> = {
  'business-units.archived': (record, value) => (record['archived_at'] !== null) === value,
  'job-types.archived': (record, value) => (record['archived_at'] !== null) === value,
  'lead-sources.archived': (record, value) => (record['archived_at'] !== null) === value,
  'tags.archived': (record, value) => (record['archived_at'] !== null) === value,
  'accounts.location_id': (record, value, all) =>
    all['locations']!.some((location) => location['id'] === value && valuesAt(location, 'accounts.account.id').includes(record['id'])),
  'jobs.team_member_id': (record, value, all) =>
    all['job-assignments']!.some((assignment) => assignment['job_id'] === record['id'] && assignment['team_member'].id === value),
  // The company does not require verified costs.
  'invoices.open_balance_from': ({ status, amounts }, value) => status === 'OPEN' && amounts.open_balance_cents >= Number(value),
  'job-financials.eligible': ({ costing, job_type }, value) =>
    (costing.enabled && costing.tracking_status === 'TRACKED' && costing.job_type_included && job_type !== null) === value,
  'form-responses.job_class': (record, value, all) => all['jobs']!.find((job) => job['id'] === record['job_id'])?.['job_class'] === value,
};

/** The fields that a search looks at (decisions §17). */
const SEARCHED: Record<string, string[]> = {
  accounts: ['name', 'company_name', 'phone', 'email', 'billing_address.formatted'],
  contacts: ['name', 'title', 'channels.value'],
  locations: ['name', 'address.formatted'],
  'team-members': ['name', 'email', 'phone'],
  jobs: ['number', 'summary'],
  'job-leads': ['number', 'summary'],
  'job-appointments': ['number', 'description'],
  equipment: ['name', 'manufacturer', 'model', 'serial_number'],
  estimates: ['number', 'name'],
  invoices: ['number'],
  payments: ['number'],
};

export function searchedTexts(path: string, record: Json): string[] {
  return SEARCHED[path]!.flatMap((field) => valuesAt(record, field)) as string[];
}

export type Everything = Record<string, Json[]>;
