// The version of a projection, and which rows an older one wrote (docs/adr/0005). Whoever writes rows whole says by which
// version; what a release with older rules writes, the database itself marks as older than every version.
import type { MigrationSet, Queryable, Schema } from '@truckroll/service-kit';

/** A table whose rows follow from documents by rules that have a version. */
export interface Projected {
  /** Public path of the records; that of read models begins with `copies/`. */
  readonly path: string;
  readonly table: string;
  readonly version: number;
}

/** The setting by which a transaction says which release of the rules it writes for. */
const SETTING = 'truckroll.projection';

/** A number that grows whenever a version does, and with every table. */
function releaseOf(projected: readonly Projected[]): number {
  return projected.reduce((sum, { version }) => sum + version, 0);
}

/**
 * The schema of a service that keeps projections: its last migrations say that this release begins, and its connections
 * that they belong to it. Where a later release has begun, this one's writes are marked as older.
 */
export function withProjections(schema: Schema, projected: readonly Projected[]): Schema & { settings: Record<string, string> } {
  const release = releaseOf(projected);
  const migrations = Array.from({ length: release }, (_, i) => ({
    name: `${String(i + 1).padStart(4, '0')}_release`,
    sql: `select raise_projections(${i + 1})`,
  }));
  const begins: MigrationSet = { name: 'projections', migrations };
  return { ...schema, migrations: [...schema.migrations, begins], settings: { [SETTING]: String(release) } };
}

/**
 * Whether this release may project anew: no later one has begun, and whatever was being written when it began has come
 * to its end, so that nothing is looked at too early.
 */
export async function mayProject(db: Queryable, projected: readonly Projected[]): Promise<'yes' | 'soon' | 'older'> {
  const { rows } = await db.query<{ newest: number; settled: boolean }>({
    text: `select r.version as newest, not exists (
        select from pg_stat_activity a where a.datname = current_database() and a.backend_xid is not null and a.xact_start < r.raised_at
      ) as settled
      from projection_release r order by r.version desc limit 1`,
  });
  const [{ newest, settled } = { newest: 0, settled: false }] = rows;
  if (newest > releaseOf(projected)) return 'older';
  return settled ? 'yes' : 'soon';
}

/** Companies with rows that an older version wrote: a step along the index for every company, however many rows it has. */
export async function companiesBehind(db: Queryable, projected: Projected): Promise<string[]> {
  const { rows } = await db.query<{ company_id: string }>({ name: `behind_${projected.table}`, text: behindIn(projected) });
  return rows.map(({ company_id }) => company_id);
}

/** Those of which any company has rows that an older version wrote. */
export async function behind<P extends Projected>(db: Queryable, projected: readonly P[]): Promise<P[]> {
  const { rows } = await db.query<{ place: number }>({
    name: 'projections_behind',
    text: projected.map((each, place) => `select ${place} as place where exists (${behindIn(each)})`).join(' union all '),
  });
  return rows.flatMap(({ place }) => projected[place] ?? []);
}

function behindIn({ table, version }: Projected): string {
  const oldestAfter = (condition: string): string => `select company_id, projection from ${table} ${condition} order by company_id, projection limit 1`;
  return `with recursive oldest as (
      (${oldestAfter('')})
      union all
      select n.* from oldest o, lateral (${oldestAfter('where company_id > o.company_id')}) n
    )
    select company_id from oldest where projection < ${version}`;
}

/** Rows that an older version wrote, over all companies or of one; no more than `most` are counted. */
export async function countBehind(
  db: Queryable,
  { table, version }: Pick<Projected, 'table' | 'version'>,
  companyId: string | undefined,
  most: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `select count(*) from (
        select from ${table} where projection < $1 ${companyId === undefined ? '' : 'and company_id = $3'} order by company_id, projection limit $2
      ) behind`,
    values: [version, most, ...(companyId === undefined ? [] : [companyId])],
  });
  return rows[0]?.count ?? 0;
}

/** The condition that a company has no row from before a version: false for every row where it has one. SQL; $1 is the company. */
export function noneBefore(table: string, version: number): string {
  // Not min(): this is one step along the index, whatever the planner believes of the rows.
  return `(select o.projection from ${table} o where o.company_id = $1 order by o.projection limit 1) >= ${version}`;
}
