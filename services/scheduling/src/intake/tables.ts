// Columns of service requests and interactions, projected from their documents (docs/adr/0005).
import { formatInstant } from '@truckroll/contract';
import { Interaction } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequest, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { arrayOf, type Database } from '@truckroll/postgres';
import { checkProjected, companiesBehind, type Projected, type Projection, type ReprojectOptions } from '@truckroll/record-store';

/** What lists order and filter by. */
interface Listed {
  /** ISO 8601. */
  created_at: string;
  status: string;
}

export interface IntakeTable<R> extends Projected {
  readonly columns: Readonly<Record<string, 'boolean' | 'text' | 'timestamptz' | 'uuid'>>;
  readonly decode: (document: Buffer) => R;
  /** The values of the columns. */
  readonly of: (record: R) => Listed & Readonly<Record<string, unknown>>;
}

/** The version that introduced the column `unbooked`. */
export const UNBOOKED_SINCE = 1;

export const serviceRequests: IntakeTable<ServiceRequest> = {
  path: 'service-requests',
  table: 'service_requests',
  version: 2,
  columns: { created_at: 'timestamptz', status: 'text', unbooked: 'boolean' },
  decode: (document) => ServiceRequest.decode(document),
  of: ({ created_at, status }) => ({ created_at: formatInstant(created_at), status, unbooked: status === Status.NEW || status === Status.CONTACTED }),
};

/** An interaction is created when it begins. */
export const interactions: IntakeTable<Interaction> = {
  path: 'interactions',
  table: 'interactions',
  version: 2,
  columns: { created_at: 'timestamptz', status: 'text', account_id: 'uuid' },
  decode: (document) => Interaction.decode(document),
  of: ({ started_at, status, account }) => ({ created_at: formatInstant(started_at), status, account_id: account?.id ?? null }),
};

/** Rows per transaction: small, so that it does not hold row locks for long. */
const BATCH = 100;

/** For the Reprojector: fills the columns of rows that an older release wrote. */
export function intakeProjection<R>(database: Database, table: IntakeTable<R>): Projection {
  const { path, version } = table;
  return {
    path,
    table: table.table,
    version,
    /** Companies take turns, so that one with few rows does not wait for one with many. */
    async renew({ signal, renewed, rest }: ReprojectOptions): Promise<void> {
      for (let companies = await companiesBehind(database, table); companies.length > 0; ) {
        for (const companyId of companies) {
          const startedAt = performance.now();
          signal.throwIfAborted();
          renewed(await renewBatch(database, table, companyId, signal));
          await rest(performance.now() - startedAt);
        }
        companies = await companiesBehind(database, table);
      }
    },
  };
}

/** Locks the rows in the order of their ids, as the writes of a visit do. */
function renewBatch<R>(database: Database, { table, version, columns, decode, of }: IntakeTable<R>, companyId: string, signal: AbortSignal): Promise<number> {
  const names = Object.entries(columns);
  return database.transaction(
    async (tx) => {
      const { rows } = await tx.query<{ id: string; document: Buffer }>({
        name: `hold_behind_${table}`,
        text: `select id, document from ${table} where company_id = $1 and id = any(array(
            select id from ${table} where company_id = $1 and projection < ${version} order by projection limit ${BATCH}))
          order by id for no key update`,
        values: [companyId],
      });
      const values = rows.map(({ document }) => of(decode(document)));
      const renewed = await tx.query<{ projection: number }>({
        name: `renew_${table}`,
        text: `update ${table} r set ${names.map(([name]) => `${name} = n.${name}`).join(', ')}, projection = ${version}
          from unnest($2::uuid[], ${names.map(([, type], i) => `$${i + 3}::${type}[]`).join(', ')}) n (id, ${names.map(([name]) => name).join(', ')})
          where r.company_id = $1 and r.id = n.id
          returning r.projection`,
        values: [
          companyId,
          arrayOf(
            'uuid',
            rows.map(({ id }) => id),
          ),
          ...names.map(([name]) => values.map((value) => value[name])),
        ],
      });
      checkProjected(renewed.rows, { version });
      return rows.length;
    },
    { retryContention: true, signal },
  );
}
