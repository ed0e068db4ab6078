// People who were erased (docs/adr/0024): their records stay, under this name, and no import brings the person back.
import { formatInstant, isUuid } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';

export const ERASED_FIRST_NAME = 'Erased';
export const ERASED_LAST_NAME = 'person';
/** What names and texts of an erased person are replaced by. */
export const ERASED_PERSON = `${ERASED_FIRST_NAME} ${ERASED_LAST_NAME}`;

/** Action of the entry, in the audit trail and in the topic of erasures, that says that a person was erased. */
export const PERSON_ERASED = 'person.erased';

/** Kinds of records whose people can be erased, and users, who have no record. */
export const ERASABLE = ['accounts', 'contacts', 'team-members', 'users'] as const;

export interface ErasedPerson {
  readonly companyId: string;
  /** Path of the record, such as `accounts`; `users` for a user. */
  readonly kind: string;
  readonly id: string;
}

/** Key of the person's entry in the topic of erasures. */
export const personKey = ({ companyId, kind, id }: ErasedPerson): string => `${companyId}/${kind}/${id}`;

export interface AskedErasure extends ErasedPerson {
  /** Time of the last request to erase the person, in microseconds: that of its entry in the audit trail. */
  readonly askedAt: number;
}

const KINDS = ERASABLE.map((kind) => `'${kind}'`).join();

/** Those of the people with these ids who were erased, or are being erased. Reads no id of companies without any. */
export async function erasedPeopleAmong(db: Pick<Queryable, 'query'>, companyIds: readonly string[], ids: readonly string[]): Promise<AskedErasure[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<{ company_id: string; kind: string; id: string; asked_at: number }>({
    name: 'erased_people_among',
    text: `select company_id, kind, id, asked_at from erased_people where company_id = any($1::uuid[]) and kind in (${KINDS}) and id = any($2::uuid[])
      and exists (select from erased_people where company_id = any($1::uuid[]))`,
    values: [companyIds, ids],
  });
  return rows.map(({ company_id: companyId, kind, id, asked_at: askedAt }) => ({ companyId, kind, id, askedAt }));
}

const DASH = 0x2d;
const DASHES = [8, 13, 18, 23];
const UUID_LENGTH = 36;

/** Every id that the documents or texts contain, once. Looks for dashes, which takes a tenth of a regular expression's time. */
export function idsIn(documents: Iterable<Uint8Array>): string[] {
  const [first, ...others] = DASHES as [number, ...number[]];
  const ids = new Set<string>();
  for (const { buffer, byteOffset, byteLength } of documents) {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    for (let dash = bytes.indexOf(DASH, first); dash !== -1; dash = bytes.indexOf(DASH, dash + 1)) {
      const start = dash - first;
      if (others.some((place) => bytes[start + place] !== DASH)) continue;
      const id = bytes.toString('latin1', start, start + UUID_LENGTH);
      if (isUuid(id)) ids.add(id);
    }
  }
  return [...ids];
}

const FROM_THE_BEGINNING = 'ended_at = null, step = 0, after = null, last = false, waits_in = null, changed_at = clock_timestamp()';

/**
 * Marks the person: from now on imports do not store the record, and a task erases what is stored; again, if the request is newer than the
 * last one. Returns false if nothing changes.
 */
export async function markPersonErased(tx: Queryable, { companyId, kind, id, askedAt }: AskedErasure): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark_person_erased',
    text: `insert into erased_people as p (company_id, kind, id, asked_at) values ($1, $2, $3, $4)
      on conflict (company_id, kind, id) do update
        set asked_at = excluded.asked_at, ${FROM_THE_BEGINNING}
        where p.asked_at < excluded.asked_at`,
    values: [companyId, kind, id, formatInstant(askedAt)],
  });
  return rowCount === 1;
}

/** Restarts the erasures of the company's people that were requested since this time, in microseconds, or in the hour before it: clocks differ. */
export async function erasePeopleAgain(tx: Queryable, companyId: string, since: number): Promise<void> {
  await tx.query({
    name: 'erase_people_again',
    text: `update erased_people set ${FROM_THE_BEGINNING} where company_id = $1 and asked_at >= $2::timestamptz - interval '1 hour'`,
    values: [companyId, formatInstant(since)],
  });
}
