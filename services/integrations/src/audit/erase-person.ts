// Erases a person from the audit trail (docs/adr/0024), which has names of users and of team members.
import { formatInstant } from '@truckroll/contract';
import type { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { PersonStep } from '@truckroll/erasure';
import { ERASED_PERSON, erasedPeopleAmong, idsIn } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { ERASED_DOMAIN } from '../people.ts';
import { entryWithout } from './without-person.ts';

/** Entries that one transaction looks at. */
const LOOKED_AT = 1000;
const OWN = `actor_kind = 'USER' and actor_id = $4`;

interface Entry {
  readonly company_id: string;
  readonly at: number;
  readonly id: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Whether the entry contains the user's address and, in another company, no user there has the same one. Null without an address. */
  readonly addressed: boolean | null;
}

/** The user's address; undefined if it is empty or erased. */
async function emailOf(tx: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ email: string }>({
    name: 'email_of_user_to_erase',
    text: `select email from users where id = $1 and email not in ('', id || '${ERASED_DOMAIN}')`,
    values: [id],
  });
  return rows[0]?.email;
}

/**
 * A user may have moved, and neither company sees the other: all companies are looked through. Entries are stored without people who are being
 * erased.
 */
export const trail: PersonStep = {
  table: 'audit_events',
  once: true,
  async next(tx, { companyId, kind, id: person }, after) {
    const only = kind === 'users' ? null : companyId;
    const email = kind === 'users' ? await emailOf(tx, person) : undefined;
    const from = after?.split(' ') ?? [null, null, null];
    const { rows: ends } = await tx.query<Pick<Entry, 'company_id' | 'at' | 'id'>>({
      name: 'page_of_audit_events_to_erase_from',
      text: `select company_id, at, id from audit_events
        where ($1::uuid is null or (company_id, at, id) > ($1::uuid, $2::timestamptz, $3::uuid)) and ($4::uuid is null or company_id = $4)
        order by company_id, at, id offset ${LOOKED_AT - 1} limit 1`,
      values: [...from, only],
    });
    const [end] = ends;
    const to = end === undefined ? [null, null, null] : [end.company_id, formatInstant(end.at), end.id];
    const { rows } = await tx.query<Entry>({
      name: 'audit_events_with_person',
      text: `select company_id, at, id, before, after, addressed from audit_events
        cross join lateral (select position($10::text in concat_ws(' ', before, after)) > 0 and (company_id = $9
          or not exists (select from users u where u.company_id = audit_events.company_id and lower(u.email) = lower($10::text)
            and u.id::text <> $8::text)) as addressed) a
        where ($1::uuid is null or (company_id, at, id) > ($1::uuid, $2::timestamptz, $3::uuid))
          and ($4::uuid is null or (company_id, at, id) <= ($4::uuid, $5::timestamptz, $6::uuid)) and ($7::uuid is null or company_id = $7)
          and (position($8::text in concat_ws(' ', case when actor_kind = 'USER' then actor_id end, before, after)) > 0 or addressed)
        order by company_id, at, id for no key update of audit_events`,
      values: [...from, ...to, only, person, companyId, email ?? null],
    });
    let changed = 0;
    for (const { company_id: of, at, id, before, after, addressed } of rows) {
      const [earlier, later] = [before, after].map((json) => entryWithout(json, person, addressed === true ? email : undefined));
      const { rowCount } = await tx.query({
        name: 'erase_person_from_audit_event',
        text: `update audit_events set actor_name = case when ${OWN} then $5 else actor_name end, before = $6, after = $7
          where company_id = $1 and at = $2 and id = $3
            and (before is distinct from $6 or after is distinct from $7 or ${OWN} and actor_name <> $5)`,
        values: [of, formatInstant(at), id, person, ERASED_PERSON, earlier, later],
      });
      changed += rowCount;
    }
    return { changed, after: end === undefined ? null : to.join(' ') };
  },
};

/** Entries of other services without the names of erased people, which those that arrive late still have. */
export async function withoutErasedPeople(db: Pick<Queryable, 'query'>, entries: readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
  const texts = entries.flatMap(({ before, after }) => [before, after].flatMap((text) => (text == null ? [] : [Buffer.from(text)])));
  const ids = idsIn(texts);
  const [people, users] = await Promise.all([erasedPeopleAmong(db, [...new Set(entries.map(({ company_id }) => company_id))], ids), erasedUsersAmong(db, ids)]);
  // Other ids are unique within a company.
  const erased = [...people.filter(({ kind }) => kind !== 'users'), ...users.map((id) => ({ companyId: null, id }))];
  return erased.reduce<readonly AuditEntry[]>(
    (all, { companyId, id }) =>
      all.map((entry) =>
        companyId === null || companyId === entry.company_id
          ? { ...entry, before: entryWithout(entry.before, id), after: entryWithout(entry.after, id) }
          : entry,
      ),
    entries,
  );
}

/** Those of the users who were erased, or are being erased, whatever their company: entries of one that they have left show them too. */
export async function erasedUsersAmong(db: Pick<Queryable, 'query'>, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<{ id: string }>({
    name: 'erased_users_among',
    text: `select distinct id from erased_people where kind = 'users' and id = any($1::uuid[])`,
    values: [ids],
  });
  return rows.map(({ id }) => id);
}
