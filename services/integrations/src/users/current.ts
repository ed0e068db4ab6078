import { ApiError } from '@truckroll/contract';
import type { GetCurrentUserRequest, GetCurrentUserResponse } from '@truckroll/contract/gen/integrations/v1/current_user';
import type { Context } from '../context.ts';
import { CREATOR_COLUMNS, personOf, type CreatorRow } from '../people.ts';
import { callerOf } from '../requests.ts';

interface Row extends CreatorRow {
  company_id: string;
  name: string;
  timezone: string;
  sandbox: boolean;
}

/** GET /api/v1/me. Both ids come from the credential, so the records exist unless they were removed just now. */
export async function getCurrentUser({ database }: Context, request: GetCurrentUserRequest): Promise<GetCurrentUserResponse> {
  const { company_id, user_id } = callerOf(request);
  const { rows } = await database.of(company_id).query<Row>({
    name: 'select_current_user',
    text: `select ${CREATOR_COLUMNS}, c.id as company_id, c.name, c.timezone, c.sandbox
      from users u join companies c on c.id = u.company_id where u.company_id = $1 and u.id = $2`,
    values: [company_id, user_id],
  });
  const row = rows[0];
  if (row === undefined) throw ApiError.notFound('user');
  return { data: { ...personOf(row), company: { id: row.company_id, name: row.name, timezone: row.timezone, currency: 'USD' }, sandbox: row.sandbox } };
}
