// Versions of projections, and which rows an older version wrote (docs/adr/0005). A statement that writes whole rows sets their version.
// The database marks rows written by a release with older rules as older than every version.
import { ApiError } from '@truckroll/contract';
import { notFreezing, type MigrationSet, type Queryable, type DatabaseSchema } from '@truckroll/postgres';

export interface Projected {
  /** Public path of the records; for read models it begins with `copies/`. */
  readonly path: string;
  readonly table: string;
  readonly version: number;
}

/** The setting by which a transaction names the release whose rules it follows. */
const SETTING = 'truckroll.projection';

/** Grows whenever a version is raised or a table is added. */
function releaseOf(projected: readonly Projected[]): number {
  return projected.reduce((sum, { version }) => sum + version, 0);
}

/**
 * Extends a service's schema: its last migrations announce this release, and its transactions identify themselves as this release. Once a
 * later release has been announced, writes by this one are marked as older.
 */
export function withProjections(schema: DatabaseSchema, projected: readonly Projected[]): DatabaseSchema & { settings: Record<string, string> } {
  const release = releaseOf(projected);
  const migrations = Array.from({ length: release }, (_, i) => ({
    name: `${String(i + 1).padStart(4, '0')}_release`,
    sql: `select raise_projections(${i + 1})`,
  }));
  const begins: MigrationSet = { name: 'projections', migrations };
  return { ...schema, migrations: [...schema.migrations, begins], settings: { [SETTING]: String(release) } };
}

/** 'older' if a later release has been announced; 'soon' while transactions from before this release's announcement may add outdated rows. */
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

/** 503 while a later release is active, which reprojects the rows itself. */
export function laterRelease(): ApiError {
  const message = 'A later release is at work on this database: ask one of its replicas.';
  return new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 5 });
}

/**
 * Throws `laterRelease` if the database marked rows that were just reprojected as older, as it does once a later release has been announced.
 * They would be found and reprojected again without end.
 */
export function checkProjected(rows: readonly { readonly projection: number }[], { version }: Pick<Projected, 'version'>): void {
  if (rows.some(({ projection }) => projection < version)) throw laterRelease();
}

/** Companies with rows that an older version wrote. Takes one index step per company, however many rows it has. */
export async function companiesBehind(db: Queryable, projected: Projected): Promise<string[]> {
  const { rows } = await db.query<{ company_id: string }>({ name: `behind_${projected.table}`, text: behindIn(projected) });
  return rows.map(({ company_id }) => company_id);
}

/** The projections that have rows written by an older version, in any company. */
export async function behind<P extends Projected>(db: Queryable, projected: readonly P[]): Promise<P[]> {
  const { rows } = await db.query<{ index: number }>({
    name: 'projections_behind',
    text: projected.map((each, index) => `select ${index} as index where exists (${behindIn(each)})`).join(' union all '),
  });
  return rows.flatMap(({ index }) => projected[index] ?? []);
}

function behindIn({ table, version }: Projected): string {
  const oldestAfter = (condition: string): string => `select company_id, projection from ${table} ${condition} order by company_id, projection limit 1`;
  return `with recursive oldest as (
      (${oldestAfter('')})
      union all
      select n.* from oldest o, lateral (${oldestAfter('where company_id > o.company_id')}) n
    )
    select company_id from oldest where projection < ${version} and ${notFreezing('oldest.company_id')}`;
}

/** Counts rows that an older version wrote, up to `most`, in one company or all. */
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

/** SQL condition, false for every row if company $1 has any row older than the version. */
export function noneBefore(table: string, version: number): string {
  // Not min(): this takes one index step whatever the planner's estimates are.
  return `(select o.projection from ${table} o where o.company_id = $1 order by o.projection limit 1) >= ${version}`;
}
