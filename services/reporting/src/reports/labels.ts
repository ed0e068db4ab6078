// Labels of groups: the owner's latest name (decisions §13).
import { JOB_CLASS_NAMES } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import type { NameCache } from '@truckroll/record-store';
import { NONE } from '../facts/definitions.ts';

const KINDS: Readonly<Record<string, string>> = {
  account: 'accounts',
  business_unit: 'business-units',
  job_type: 'job-types',
  collector: 'team-members',
  team_member: 'team-members',
};

/** Labels by value. If the name is unknown, a team member gets the name on an assignment, everything else the value itself. */
export async function labelsOf(
  db: Queryable,
  names: NameCache,
  companyId: string,
  dimension: string,
  given: Iterable<string>,
): Promise<(value: string) => string> {
  const values = new Set(given);
  values.delete(NONE);
  if (dimension === 'job_class') return (code) => (JOB_CLASS_NAMES as Record<string, string>)[code] ?? code;
  const kind = KINDS[dimension];
  if (kind === undefined || values.size === 0) return (value) => value;
  const cached = names.of(companyId);
  const known = [...values].every((id) => cached.get(kind, id) !== undefined) ? cached : await names.fetch(companyId, new Map([[kind, values]]), db);
  const found = new Map(
    [...values].flatMap((id) => {
      const name = known.get(kind, id);
      return name == null ? [] : [[id, Buffer.from(name).toString()]];
    }),
  );
  const unknown = [...values].filter((id) => !found.has(id));
  if (dimension === 'team_member' && unknown.length > 0) {
    for (const [id, name] of await namesOnAssignments(db, companyId, unknown)) found.set(id, name);
  }
  return (value) => found.get(value) ?? value;
}

async function namesOnAssignments(db: Queryable, companyId: string, ids: readonly string[]): Promise<(readonly [string, string])[]> {
  const { rows } = await db.query<{ id: string; name: string }>({
    name: 'names_on_assignments',
    text: `select m.id, a.name from unnest($2::uuid[]) m(id) cross join lateral (
        select min(team_member_name) as name from assignments where company_id = $1 and team_member_id = m.id) a
      where a.name is not null`,
    values: [companyId, ids],
  });
  return rows.map(({ id, name }) => [id, name] as const);
}
