// Erases a user (docs/adr/0024): the row, e-mails to the user, and the name in the audit trail.
import type { KnownPerson, PersonStep } from '@truckroll/erasure';
import { ERASED_PERSON, type ErasedPerson } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { trail } from '../audit/erase-person.ts';
import { ERASED_DOMAIN, ERASED_USER } from '../people.ts';

/** Undefined for other kinds of people, and for unknown ids. Once erased, a user has an empty `knownBy`. */
export async function findUser(db: Queryable, { companyId, kind, id }: ErasedPerson): Promise<KnownPerson | undefined> {
  if (kind !== 'users') return undefined;
  const { rows } = await db.query<{ name: string; email: string }>({
    name: 'find_user_to_erase',
    text: `select first_name || ' ' || last_name as name, email from users where company_id = $1 and id = $2`,
    values: [companyId, id],
  });
  const [user] = rows;
  return user && { name: user.name, knownBy: user.name === ERASED_PERSON ? [] : [user.name, user.email] };
}

const row: PersonStep = {
  table: 'users',
  // The trail, which it follows, is searched for the address.
  once: true,
  async next(tx, { id }) {
    const { rowCount } = await tx.query({
      name: 'erase_user',
      text: `update users u set ${ERASED_USER}, updated_at = now() where id = $1 and not active and email <> id || '${ERASED_DOMAIN}'`,
      values: [id],
    });
    return { changed: rowCount, after: null };
  },
};

/** Those that are being sent end by themselves. */
const mails: PersonStep = {
  table: 'mails',
  async next(tx, { id }) {
    const { rowCount } = await tx.query({
      name: 'erase_mails_to_user',
      text: `update mails set subject = $2, body = $2, detail = case when status = 'QUEUED' then 'the user was erased' when detail is null then null else $2 end,
          finished_at = coalesce(finished_at, now()), status = case when status = 'QUEUED' then 'SUPPRESSED' else status end
        where user_id = $1 and body <> $2 and status <> 'ATTEMPTING'`,
      values: [id, ERASED_PERSON],
    });
    const { rowCount: sending } = await tx.query({
      name: 'sending_mails_to_user',
      text: `select from mails where user_id = $1 and status = 'ATTEMPTING' limit 1`,
      values: [id],
    });
    return { changed: rowCount, waits: sending > 0, after: null };
  },
};

/** The row is last, because the trail has the address without the id. */
export const userSteps: readonly PersonStep[] = [mails, trail, row];
