// Erased people in records: their names in references, and lines of an import that would bring them back (docs/adr/0024).
import { ApiError, codec, encodeMessage, type Shape } from '@truckroll/contract';
import { ERASED_PERSON, erasedPeopleAmong, idsIn, type ErasedPerson } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { refreshRecords } from './derive.ts';
import type { Line } from './import-lines.ts';
import type { Table } from './table.ts';
import { upsertEncoded, type Encoded } from './upsert.ts';

/** Rows that one transaction looks at. */
const LOOKED_AT = 500;

/** People as `<kind>/<id>`. */
type People = ReadonlySet<string>;

interface Renamed {
  readonly record: unknown;
  readonly document: Buffer;
}

/** The record with the new name of erased people in references to them; undefined if it shows none by another name. */
export function withoutNamesOf(people: People, shape: Shape, document: Uint8Array): Renamed | undefined {
  const type = codec(shape.typeName);
  const record = type.decode(document);
  return rename(people, shape, record as Message) ? { record, document: Buffer.from(encodeMessage(type, record)) } : undefined;
}

type Message = Record<string, unknown>;

/** Changes the message. Returns whether it showed a person by another name. */
function rename(people: People, { fields }: Shape, message: Message): boolean {
  let changed = false;
  for (const { name, kind, refersTo, shape } of fields) {
    if (kind !== 'object' && (kind !== 'reference' || refersTo === undefined)) continue;
    const value = message[name];
    for (const each of (Array.isArray(value) ? value : [value]) as (Message | null | undefined)[]) {
      if (each == null) continue;
      if (kind === 'object') changed = rename(people, shape as Shape, each) || changed;
      else if (people.has(`${refersTo}/${each['id'] as string}`) && each['name'] !== ERASED_PERSON) {
        each['name'] = ERASED_PERSON;
        changed = true;
      }
    }
  }
  return changed;
}

/** Ids that lines have, and how many of them are of erased people. */
export interface Looked {
  readonly ids: readonly string[];
  readonly erased: number;
}

interface Erased {
  readonly lines: readonly Line[];
  /** Those that are not stored. */
  readonly refused: readonly Line[];
  readonly people: Looked;
}

/** Leaves out the records of erased people, and their names in references. */
export async function withoutErasedPeople(db: Queryable, table: Table<unknown>, companyId: string, lines: readonly Line[]): Promise<Erased> {
  const ids = idsIn(lines.map(({ document }) => document));
  const found = await erasedPeopleAmong(db, [companyId], ids);
  const looked = { ids, erased: found.length };
  if (found.length === 0) return { lines, refused: [], people: looked };
  const people = new Set(found.map(({ kind, id }) => `${kind}/${id}`));
  const refused = lines.filter(({ id }) => people.has(`${table.path}/${id}`));
  const kept = lines.filter(({ id }) => !people.has(`${table.path}/${id}`));
  return { lines: kept.map((line) => ({ ...line, ...withoutNamesOf(people, table.resource.record, line.document) })), refused, people: looked };
}

/** Errors: 503 if another of the people was erased since. Call it under the company's lock, which an erasure takes. */
export async function requireSamePeople(tx: Queryable, companyId: string, { ids, erased }: Looked): Promise<void> {
  if ((await erasedPeopleAmong(tx, [companyId], ids)).length === erased) return;
  throw ApiError.unavailable(new Error('a person in these lines is erased at this moment'), 1);
}

export interface LookedAt {
  readonly changed: number;
  readonly waits: boolean;
  readonly after: string | null;
}

/** Steps of an erasure over the records of these tables: rewrites documents that name the person. */
export function referencesToPeople(
  tables: readonly Table[],
): { table: string; next: (tx: Transaction, person: ErasedPerson, after: string | null) => Promise<LookedAt> }[] {
  return (tables as readonly Table<unknown>[])
    .filter(({ everyCompany }) => everyCompany !== true)
    .map((table) => ({ table: table.table, next: (tx, person, after) => eraseReferences(tx, table, person, after) }));
}

async function eraseReferences(tx: Transaction, table: Table<unknown>, { companyId, kind, id }: ErasedPerson, after: string | null): Promise<LookedAt> {
  const end = await endOfPage(tx, table.table, companyId, after);
  const { rows } = await tx.query<{ id: string; document: Buffer; derived: Buffer | null }>({
    name: `referring_to_person_${table.table}`,
    text: `select id, document, derived from ${table.table} where company_id = $1 and ($2::uuid is null or id > $2) and ($3::uuid is null or id <= $3)
        and (position($4::bytea in document) > 0 or position($4::bytea in coalesce(derived, '')) > 0) order by id for no key update`,
    values: [companyId, after, end, Buffer.from(id)],
  });
  const people = new Set([`${kind}/${id}`]);
  const { record } = table.resource;
  const documents = rows.flatMap(({ id: of, document }): Encoded<unknown>[] => {
    const renamed = withoutNamesOf(people, record, document);
    return renamed === undefined ? [] : [{ id: of, ...renamed }];
  });
  const { changed } = documents.length === 0 ? { changed: [] } : await upsertEncoded(tx, table, companyId, documents);
  const rewritten = new Set(documents.map(({ id: of }) => of));
  const derived = rows.filter((row) => row.derived !== null && !rewritten.has(row.id) && withoutNamesOf(people, record, row.derived) !== undefined);
  const refreshed = await refreshRecords(
    tx,
    table,
    companyId,
    derived.map(({ id: of }) => of),
  );
  return { changed: changed.length + refreshed.length, waits: derived.length > 0, after: end };
}

/** The last of the next rows; null if there are no more than these. */
export async function endOfPage(tx: Transaction, table: string, companyId: string, after: string | null): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>({
    name: `page_to_erase_from_${table}`,
    text: `select id from ${table} where company_id = $1 and ($2::uuid is null or id > $2) order by id offset ${LOOKED_AT} limit 1`,
    values: [companyId, after],
  });
  return rows[0]?.id ?? null;
}

/** A step's wait for the name that another service publishes. */
export function nameOfPerson(): { table: string; next: (tx: Transaction, person: ErasedPerson) => Promise<LookedAt> } {
  return {
    table: 'names',
    async next(tx, { companyId, kind, id }) {
      const { rowCount } = await tx.query({
        name: 'name_of_erased_person',
        text: 'select from names where company_id = $1 and kind = $2 and id = $3 and name <> $4',
        values: [companyId, kind, id, ERASED_PERSON],
      });
      return { changed: 0, waits: rowCount > 0, after: null };
    },
  };
}
