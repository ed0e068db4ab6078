// Lists of service requests and interactions, newest first (decisions §17).
import { ApiError, formatInstant } from '@truckroll/contract';
import type { IntakeListServiceService, ListInteractionsRequest, ListServiceRequestsRequest } from '@truckroll/contract/gen/scheduling/v1/intake_lists';
import type { Handlers } from '@truckroll/grpc';
import type { Database } from '@truckroll/postgres';
import { checked } from './requests.ts';
import { interactions, serviceRequests, type IntakeTable } from './tables.ts';

type ListRequest = Pick<ListServiceRequestsRequest | ListInteractionsRequest, 'collection' | 'from' | 'before'> & {
  status: readonly string[];
  account_id?: readonly string[];
};

interface Page<R> {
  data: R[];
  /** Position of the next page; empty on the last page. */
  next: Buffer;
}

const RETRY_AFTER = 2;

/** The handlers of IntakeListService. Errors: 400; 503 while a company's rows are prepared. */
export function intakeLists(database: Database): Handlers<typeof IntakeListServiceService> {
  return {
    listServiceRequests: (request) => pageOf(database, serviceRequests, checked('ListServiceRequestsRequest', request)),
    listInteractions: (request) => pageOf(database, interactions, checked('ListInteractionsRequest', request)),
  };
}

/** Errors: 503 until every row of the company has been projected. */
async function pageOf<R>(database: Database, table: IntakeTable<R>, { collection, status, account_id, from, before }: ListRequest): Promise<Page<R>> {
  if (collection == null) throw ApiError.internal(new Error('a list request has no collection'));
  const { company_id: companyId, limit, after, ids } = collection;
  const values: unknown[] = [companyId, limit + 1];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const [at, id] = Buffer.from(after).toString('latin1').split(' ');
  const conditions = [
    't.company_id = $1',
    ...(ids.length === 0 ? [] : [`t.id = any(${bind(ids, 'uuid[]')})`]),
    ...(from == null ? [] : [`t.created_at >= ${bind(formatInstant(from), 'timestamptz')}`]),
    ...(before == null ? [] : [`t.created_at < ${bind(formatInstant(before), 'timestamptz')}`]),
    ...(id === undefined ? [] : [`(t.created_at, t.id) < (${bind(at, 'timestamptz')}, ${bind(id, 'uuid')})`]),
  ];
  const walk = (more: readonly string[]): string =>
    `select t.created_at, t.id, t.document from ${table.table} t where ${[...conditions, ...more].join(' and ')} order by t.created_at desc, t.id desc limit $2`;
  const chosen = Object.entries({ status, account_id }).filter(([, values]) => values !== undefined && values.length > 0);
  const each = chosen.map(([name, values]) => `unnest(${bind(values, `${table.columns[name]}[]`)}) c_${name}`);
  // One walk of an index for each value, because a single one would read what lies between them.
  const walks = [...each, `lateral (${walk(chosen.map(([name]) => `t.${name} = c_${name}`))}) w`].join(', ');
  // One statement, because another snapshot could see rows that were projected in between.
  const { rows } = await database.of(companyId).query<{ behind: boolean; created_at: number; id: string; document: Buffer | null }>({
    label: `list_${table.table}`,
    text: `select b.behind, p.* from (
        select coalesce((select o.projection from ${table.table} o where o.company_id = $1 order by o.projection limit 1) < ${table.version}, false) as behind
      ) b left join lateral (select w.* from ${walks} order by w.created_at desc, w.id desc limit $2) p on true
      order by p.created_at desc, p.id desc`,
    values,
  });
  if (rows[0]?.behind === true) {
    const message = 'This list is new here and is still being prepared. Try again after the time in Retry-After.';
    throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER });
  }
  const found = rows.flatMap(({ document, ...key }) => (document === null ? [] : [{ ...key, document }]));
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    data: page.map(({ document }) => table.decode(document)),
    next: Buffer.from(last === undefined ? '' : `${formatInstant(last.created_at)} ${last.id}`, 'latin1'),
  };
}
