import { formatInstant } from '@truckroll/contract';
import type { AuditActorKind, AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { AuditEvent } from '@truckroll/contract/gen/integrations/v1/audit';
import { COMPANY_DELETED, ERASED_PERSON, NO_COMPANY, auditEntry, isErased, type AuditedChange } from '@truckroll/outbox';
import type { Queryable, Statement } from '@truckroll/postgres';
import { requireBudget, spending } from '../budgets.ts';
import { MOST_PAGE_BYTES } from '../pages.ts';
import { withoutErasedPeople } from './erase-person.ts';
import { changedFields } from './states.ts';

/** Age at which events are deleted. A trigger refuses to delete younger ones. */
const KEPT = `interval '365 days'`;
const PURGED_AT_ONCE = 500;
/** Size of an entry without `before` and `after`, in bytes: ids, names and an address. */
const ENTRY_BYTES = 500;
const KINDS = /^AUDIT_ACTOR_KIND_/;

/** Changes that a company may always make, however full its trail is. They are fewer than those that they undo. */
const ALWAYS_ALLOWED = new Set(['api_key.revoked', 'webhook.deleted']);

/** Adds a change to the trail, in the transaction of the change. Throws 429 if a client's change exceeds the company's budget. */
export async function audit(tx: Pick<Queryable, 'query'>, change: AuditedChange): Promise<void> {
  for (const statement of await auditing(tx, change)) await tx.query(statement);
}

/** Adds a command that works directly on the database. Its actor is the database role, `role:<name>`, which PostgreSQL authenticates. */
export async function auditRole(db: Pick<Queryable, 'query'>, change: Omit<AuditedChange, 'companyId'>): Promise<void> {
  const { rows } = await db.query<{ role: string }>({ text: 'select session_user as role' });
  await audit(db, { companyId: NO_COMPANY, operator: `role:${rows[0]?.role}`, ...change });
}

/** The statements of `audit`, for transactions that send them with COMMIT. */
export async function auditing(tx: Pick<Queryable, 'query'>, change: AuditedChange): Promise<Statement[]> {
  const { companyId, caller, action, before, after } = change;
  const made = auditEntry({ ...change, ...(before !== undefined && after !== undefined && changedFields(before, after)) });
  const [entry = made] = await withoutErasedPeople(tx, [made]);
  const inserting = insertingEntries([entry]);
  if (caller === undefined) return [inserting];
  if (!ALWAYS_ALLOWED.has(action)) await requireBudget(tx, companyId, 'audit');
  const bytes = ENTRY_BYTES + Buffer.byteLength(entry.before ?? '') + Buffer.byteLength(entry.after ?? '');
  return [inserting, spending('audit', new Map([[companyId, bytes]]))];
}

/** Adds entries to the trail, with the current names of their users and keys. Skips entries that are stored already, and those of deleted companies except `company.deleted`. */
export async function insertAuditEntries(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await tx.query(insertingEntries(entries));
}

function insertingEntries(entries: readonly AuditEntry[]): Statement {
  const isOperator = ({ actor_kind }: AuditEntry): boolean => actor_kind === 'AUDIT_ACTOR_KIND_OPERATOR';
  const columns: ((entry: AuditEntry) => string | null)[] = [
    ({ company_id }) => company_id,
    ({ at }) => formatInstant(at),
    ({ id }) => id,
    ({ actor_kind }) => actor_kind.replace(KINDS, ''),
    ({ actor_id }) => actor_id,
    (entry) => (isOperator(entry) ? null : entry.actor_id),
    ({ action }) => action,
    ({ object_kind }) => object_kind,
    ({ object_id }) => object_id,
    ({ before }) => before ?? null,
    ({ after }) => after ?? null,
    ({ request_id }) => request_id ?? null,
    ({ address }) => address ?? null,
  ];
  return {
    name: 'insert_audit_events',
    text: `insert into audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, before, after, request_id, address)
      select g.company_id, g.at, g.id, g.actor_kind, g.actor_id,
        coalesce(k.name, case when exists (select from erased_people p where p.kind = 'users' and p.id = u.id) then '${ERASED_PERSON}' end,
          u.first_name || ' ' || u.last_name, g.actor_id),
        g.action, g.object_kind, g.object_id, g.before, g.after, g.request_id, g.address
      from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[],
          $11::text[], $12::uuid[], $13::text[])
        g (company_id, at, id, actor_kind, actor_id, actor, action, object_kind, object_id, before, after, request_id, address)
      left join api_keys k on g.actor_kind = 'KEY' and k.company_id = g.company_id and k.id = g.actor
      left join users u on g.actor_kind = 'USER' and u.id = g.actor
      where g.action = '${COMPANY_DELETED}' or not ${isErased('g.company_id')}
      on conflict do nothing`,
    values: columns.map((of) => entries.map(of)),
  };
}

export interface AuditFilter {
  /** Null for all companies. */
  companyId: string | null;
  ids: readonly string[];
  from: number | null | undefined;
  before: number | null | undefined;
  actor: readonly string[];
  action: readonly string[];
  limit: number;
  /** `next` of the previous page; empty for the first page. */
  after: Uint8Array;
}

export interface AuditPage {
  events: { company_id: string; event: AuditEvent }[];
  /** Position of the next page; empty on the last page. */
  next: Buffer;
}

interface Row extends Omit<AuditEvent, 'actor' | 'object'> {
  /** Number of events from the first on this page, at most one more than the limit. */
  found: number;
  company_id: string;
  actor_kind: 'USER' | 'OPERATOR' | 'KEY';
  actor_id: string;
  actor_name: string;
  object_kind: string;
  object_id: string;
}

/** Selects events, newest first. The statement contains only the given restrictions, so that each combination can use its index. */
export async function selectAuditEvents(db: Queryable, filter: AuditFilter): Promise<AuditPage> {
  const { companyId, ids, from, before, actor, action, limit, after } = filter;
  const [at, id] = after.length === 0 ? [] : Buffer.from(after).toString('latin1').split(' ');
  const names: string[] = [];
  const conditions: string[] = [];
  const values: unknown[] = [limit + 1];
  const restrict = (name: string, condition: (...parameters: string[]) => string, ...given: unknown[]): void => {
    names.push(name);
    conditions.push(condition(...given.map((value) => `$${values.push(value)}`)));
  };
  const restrictTo = (column: string, given: readonly string[]): void => {
    if (given.length === 1) restrict(column, (value) => `${column} = ${value}`, given[0]);
    if (given.length > 1) restrict(`${column}s`, (value) => `${column} = any(${value})`, given);
  };
  if (companyId !== null) restrict('company', (company) => `company_id = ${company}`, companyId);
  if (ids.length > 0) restrict('ids', (wanted) => `id = any(${wanted}::uuid[])`, ids);
  if (from != null) restrict('from', (first) => `at >= ${first}`, formatInstant(from));
  if (before != null) restrict('before', (end) => `at < ${end}`, formatInstant(before));
  restrictTo('actor_id', actor);
  restrictTo('action', action);
  if (at !== undefined) restrict('after', (last, lastId) => `(at, id) < (${last}::timestamptz, ${lastId}::uuid)`, at, id);
  const { rows } = await db.query<Row>({
    // PostgreSQL allows 63 characters.
    name: ['audit', ...names].join('_'),
    label: 'select_audit_events',
    text: `select company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, before, after, request_id, address, found from (
        select *, count(*) over () as found, row_number() over newest as ordinal,
          sum(${ENTRY_BYTES} + coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)) over newest as bytes
        from (select * from audit_events${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`} order by at desc, id desc limit $1) listed
        window newest as (order by at desc, id desc)) measured
      where ordinal = 1 or bytes <= ${MOST_PAGE_BYTES} order by at desc, id desc`,
    values,
  });
  const page = rows.slice(0, limit);
  const last = (rows[0]?.found ?? 0) > page.length ? page.at(-1) : undefined;
  return {
    events: page.map(({ company_id, actor_kind, actor_id, actor_name, object_kind, object_id, found: _found, ...event }) => ({
      company_id,
      event: {
        ...event,
        actor: { kind: `AUDIT_ACTOR_KIND_${actor_kind}` as AuditActorKind, id: actor_id, name: actor_name },
        object: { kind: object_kind, id: object_id },
      },
    })),
    next: Buffer.from(last === undefined ? '' : `${formatInstant(last.at)} ${last.id}`, 'latin1'),
  };
}

/** Deletes events older than 365 days, both at `at` (microseconds) and by PostgreSQL's clock. Resolves to their number. */
export async function purgeAuditEvents(db: Queryable, at: number): Promise<number> {
  for (let purged = 0; ; ) {
    const { rowCount } = await db.query({
      name: 'purge_audit_events',
      text: `delete from audit_events where ctid = any(array(select ctid from audit_events
        where at < least($1::timestamptz, now()) - ${KEPT} order by at, id limit ${PURGED_AT_ONCE} for update skip locked))`,
      values: [formatInstant(at)],
    });
    purged += rowCount;
    if (rowCount < PURGED_AT_ONCE) return purged;
  }
}
