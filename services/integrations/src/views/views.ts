// Views of the console that a company's users have saved (decisions §19).
import { ApiError, refused } from '@truckroll/contract';
import { CreatorKind } from '@truckroll/contract/gen/integrations/v1/people';
import type {
  DeleteViewRequest,
  DeleteViewResponse,
  GetViewRequest,
  GetViewResponse,
  ListViewsRequest,
  ListViewsResponse,
  SaveViewRequest,
  SaveViewResponse,
  View,
} from '@truckroll/contract/gen/integrations/v1/views';
import type { Context } from '../context.ts';
import { CREATOR_COLUMNS, creatorOf, type CreatorRow } from '../people.ts';
import { callerOf, checked } from '../requests.ts';
import { lockActiveUser } from '../users/store.ts';

/** Most views of one user. */
const MOST_OWN = 100;
/** Most views of other users in a list. */
const MOST_SHARED = 200;
/** Most bytes of a view's query in UTF-8. */
const MOST_QUERY_BYTES = 2000;

const COLUMNS = `v.name, v.query, v.shared, v.saved_at, ${CREATOR_COLUMNS}`;

/** Excludes views of users who have moved to another company. */
const USER = 'join users u on u.id = v.user_id and u.company_id = v.company_id';
const OF_USERS = `views v ${USER}`;

type Row = Omit<View, 'created_by'> & CreatorRow;

const viewOf = ({ name, query, shared, saved_at, ...user }: Row): View => ({ name, query, shared, saved_at, created_by: creatorOf(user, CreatorKind.USER) });
const noView = (): ApiError => ApiError.notFound('view of this user');

async function list({ database }: Context, request: ListViewsRequest): Promise<ListViewsResponse> {
  const { company_id, user_id } = callerOf(request);
  const { rows } = await database.of(company_id).query<Row>({
    name: 'list_views',
    text: `(select ${COLUMNS} from ${OF_USERS} where v.company_id = $1 and v.user_id = $2)
      union all
      (select ${COLUMNS} from ${OF_USERS} where v.company_id = $1 and v.shared and v.user_id <> $2 and u.active order by v.name, v.user_id limit $3)
      order by name, user_id`,
    values: [company_id, user_id, MOST_SHARED],
  });
  return { data: rows.map(viewOf) };
}

async function get({ database }: Context, request: GetViewRequest): Promise<GetViewResponse> {
  const { company_id, user_id } = callerOf(request);
  const { name } = checked('GetViewRequest', request);
  const { rows } = await database.of(company_id).query<Row>({
    name: 'get_view',
    text: `select ${COLUMNS} from ${OF_USERS} where v.company_id = $1 and v.user_id = $2 and v.name = $3`,
    values: [company_id, user_id, name],
  });
  if (rows[0] === undefined) throw noView();
  return { data: viewOf(rows[0]) };
}

async function save({ database }: Context, request: SaveViewRequest): Promise<SaveViewResponse> {
  const { company_id, user_id } = callerOf(request);
  const { name, query, shared } = checked('SaveViewRequest', request);
  if (name === '.' || name === '..') throw refused('name', 'Give another name: . and .. have a meaning of their own in addresses.', 'INVALID_FORMAT');
  if (Buffer.byteLength(query) > MOST_QUERY_BYTES) throw refused('query', `Give at most ${MOST_QUERY_BYTES} bytes of UTF-8.`, 'OUT_OF_RANGE');
  return await database.of(company_id).transaction(async (tx) => {
    // Two saves of one user at a time could otherwise exceed the limit together.
    if (!(await lockActiveUser(tx, company_id, user_id, 'alone'))) throw ApiError.notFound('active user');
    const { rows: others } = await tx.query<{ count: number }>({
      name: 'count_other_views',
      text: 'select count(*)::int as count from views where company_id = $1 and user_id = $2 and name <> $3',
      values: [company_id, user_id, name],
    });
    if ((others[0]?.count ?? 0) >= MOST_OWN) throw new ApiError('LIMIT_REACHED', `A user may have ${MOST_OWN} views: remove one first.`);
    const { rows } = await tx.query<Row>({
      name: 'save_view',
      text: `with v as (
          insert into views (company_id, user_id, name, query, shared) values ($1, $2, $3, $4, $5)
          on conflict (company_id, user_id, name) do update set query = excluded.query, shared = excluded.shared, saved_at = now()
          returning *)
        select ${COLUMNS} from v ${USER}`,
      values: [company_id, user_id, name, query, shared],
    });
    return { data: viewOf(rows[0] as Row) };
  });
}

async function remove({ database }: Context, request: DeleteViewRequest): Promise<DeleteViewResponse> {
  const { company_id, user_id } = callerOf(request);
  const { name } = checked('DeleteViewRequest', request);
  const { rows } = await database.of(company_id).query<Row>({
    name: 'delete_view',
    text: `with v as (delete from views where company_id = $1 and user_id = $2 and name = $3 returning *)
      select ${COLUMNS} from v ${USER}`,
    values: [company_id, user_id, name],
  });
  if (rows[0] === undefined) throw noView();
  return { data: viewOf(rows[0]) };
}

export const views = { listViews: list, getView: get, saveView: save, deleteView: remove };
