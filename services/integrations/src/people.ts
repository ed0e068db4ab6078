import type { Creator, CreatorKind } from '@truckroll/contract/gen/integrations/v1/people';
import { ERASED_FIRST_NAME, ERASED_LAST_NAME } from '@truckroll/outbox';

/** E-mail addresses of erased users are their ids at this domain, which cannot be registered. */
export const ERASED_DOMAIN = '@erased.invalid';

/** SQL: columns of the row `u` of an erased user. Subject and address stay unique, and no other user has them. */
export const ERASED_USER = `subject = 'erased ' || u.id, email = u.id || '${ERASED_DOMAIN}', first_name = '${ERASED_FIRST_NAME}', last_name = '${ERASED_LAST_NAME}'`;

/** Columns of the table alias u (users) for `personOf` and `creatorOf`. */
export const CREATOR_COLUMNS = 'u.id as user_id, u.email, u.first_name, u.last_name';

export interface CreatorRow {
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
}

export function personOf({ user_id: id, email, first_name, last_name }: CreatorRow): Omit<Creator, 'kind'> {
  return { id, display_name: `${first_name} ${last_name}`, email, first_name, last_name };
}

export function creatorOf(row: CreatorRow, kind: CreatorKind): Creator {
  return { ...personOf(row), kind };
}
