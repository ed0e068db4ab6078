// People who were erased (docs/adr/0024): their records stay, under this name, and no import brings the person back.
import type { Queryable } from '@truckroll/postgres';

/** What names and texts of an erased person are replaced by. */
export const ERASED_PERSON = 'Erased person';

/** Action of the entry, in the audit trail and in the topic of erasures, that says that a person was erased. */
export const PERSON_ERASED = 'person.erased';

/** Kinds of records whose people can be erased. */
export const ERASABLE = ['accounts', 'contacts'] as const;

export interface ErasedPerson {
  readonly companyId: string;
  /** Path of the record: `accounts`. */
  readonly kind: string;
  readonly id: string;
}

/** The company's erased people, and those who are being erased, as `<kind>/<id>`. */
export async function erasedPeopleOf(db: Queryable, companyId: string): Promise<ReadonlySet<string>> {
  return new Set((await erasedPeopleIn(db, [companyId])).map(({ kind, id }) => `${kind}/${id}`));
}

/** Erased people of these companies, and those who are being erased. */
export async function erasedPeopleIn(db: Queryable, companyIds: readonly string[]): Promise<ErasedPerson[]> {
  const { rows } = await db.query<{ company_id: string; kind: string; id: string }>({
    name: 'erased_people_in',
    text: 'select company_id, kind, id from erased_people where company_id = any($1::uuid[])',
    values: [companyIds],
  });
  return rows.map(({ company_id: companyId, kind, id }) => ({ companyId, kind, id }));
}

/** Marks the person: from now on imports do not store the record, and a task erases what is stored. Returns false if that was done before. */
export async function markPersonErased(tx: Queryable, { companyId, kind, id }: ErasedPerson): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark_person_erased',
    text: 'insert into erased_people (company_id, kind, id) values ($1, $2, $3) on conflict do nothing',
    values: [companyId, kind, id],
  });
  return rowCount === 1;
}
