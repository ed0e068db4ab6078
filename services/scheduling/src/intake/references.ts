import { refused } from '@truckroll/contract';
import type { Reference } from '@truckroll/contract/gen/type/v1/type';
import type { Queryable } from '@truckroll/postgres';

const KINDS = {
  account: 'accounts',
  contact: 'contacts',
  business_unit: 'business-units',
  job_type: 'job-types',
  lead_source: 'lead-sources',
  handled_by: 'team-members',
} as const;

export type ReferenceField = keyof typeof KINDS;
type Ids<F extends ReferenceField> = Readonly<Record<F, string | null | undefined>>;

/** References with these ids. Errors: 400 that names the field of an id unknown in the company. */
export async function referencesTo<F extends ReferenceField>(tx: Queryable, companyId: string, ids: Ids<F>): Promise<Record<F, Reference | null>> {
  const wanted = (Object.entries(ids) as [F, string | null | undefined][]).filter((entry): entry is [F, string] => entry[1] != null);
  const names = await namesOf(tx, companyId, wanted);
  for (const [field, id] of wanted) {
    if (!names.has(`${field} ${id}`)) throw refused(`${field}_id`, `None of the company’s ${KINDS[field]} has this id.`);
  }
  const references = (Object.keys(ids) as F[]).map((field) => [field, names.get(`${field} ${ids[field]}`) ?? null]);
  return Object.fromEntries(references) as Record<F, Reference | null>;
}

export async function withLatestNames<R extends Partial<Record<ReferenceField, Reference | null | undefined>>>(
  tx: Queryable,
  companyId: string,
  record: R,
): Promise<R> {
  const fields = (Object.keys(KINDS) as ReferenceField[]).flatMap((field): [ReferenceField, string][] => {
    const id = record[field]?.id;
    return id === undefined ? [] : [[field, id]];
  });
  const names = await namesOf(tx, companyId, fields);
  const latest = fields.map(([field, id]): [string, unknown] => [field, names.get(`${field} ${id}`) ?? record[field]]);
  return { ...record, ...Object.fromEntries(latest) };
}

/** Requires that records exist whose names are not shown. Errors: 400. */
export async function requireRecords(
  tx: Queryable,
  companyId: string,
  ids: { location_id?: string | null | undefined; job_id?: string | null | undefined; service_request_id?: string | null | undefined },
): Promise<void> {
  const tables = { location_id: 'locations', job_id: 'jobs', service_request_id: 'service_requests' } as const;
  for (const [field, table] of Object.entries(tables) as [keyof typeof tables, string][]) {
    const id = ids[field];
    if (id == null) continue;
    const { rowCount } = await tx.query({ name: `require_${table}`, text: `select from ${table} where company_id = $1 and id = $2`, values: [companyId, id] });
    if (rowCount === 0) throw refused(field, `The company has no record with this id among its ${table.replace('_', ' ')}.`);
  }
}

async function namesOf(tx: Queryable, companyId: string, wanted: readonly (readonly [ReferenceField, string])[]): Promise<Map<string, Reference>> {
  if (wanted.length === 0) return new Map();
  const { rows } = await tx.query<{ field: ReferenceField; id: string; name: string }>({
    name: 'names_for_intake',
    text: `select w.field, n.id, n.name from unnest($2::text[], $3::text[], $4::uuid[]) w(field, kind, id)
      join names n on n.company_id = $1 and n.kind = w.kind and n.id = w.id`,
    values: [companyId, wanted.map(([field]) => field), wanted.map(([field]) => KINDS[field]), wanted.map(([, id]) => id)],
  });
  return new Map(rows.map(({ field, id, name }) => [`${field} ${id}`, { id, name }]));
}
