// Freezes a company in one service (docs/adr/0026): triggers that are made for it refuse every change of its rows, by any process.
import { ApiError, topics as known } from '@truckroll/contract';
import type { FreezeResponse, FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import type { Handlers } from '@truckroll/grpc';
import { KeptAdmin, endsOf, hasPassed, type AppliedTo, type KafkaClient, type Offsets, type Restored } from '@truckroll/outbox';
import type { BackgroundPart } from '@truckroll/process';
import { isLockTimeout, type Database, type Queryable, type Transaction } from '@truckroll/postgres';
import { requireId } from './request.ts';
import { STAYS } from './tables.ts';

export interface FreezeOptions {
  readonly database: Database;
  readonly kafka: KafkaClient;
  readonly background: (part: BackgroundPart) => void;
  /** The service's consumers, which apply what was published of the company before it refuses changes. */
  readonly restored: Pick<Restored, 'groups'>;
  /** Places up to which they have applied their topics, where the service stores them: they are committed seconds later. */
  readonly applied?: (db: Queryable) => Promise<AppliedTo>;
  /** Has consumers commit at once what they have applied. They do it by themselves some time later. */
  readonly hurry?: () => Promise<void>;
  /** The consumer group that only adds to the audit trail, which stays open: nothing waits for it but a company that leaves. */
  readonly trail?: string;
  /** The lock of transactions that store records of the company. */
  readonly lock?: (tx: Transaction, companyId: string) => Promise<void>;
  /** SQL: work for the company $1::uuid that has begun, in words for the operator; null if there is none. The service refuses changes after that. */
  readonly underWay?: string;
  /** Columns with the company's id that are not called company_id, by table. */
  readonly keys?: Readonly<Record<string, string>>;
  /** The service records the freeze: its row stays until the end is recorded. */
  readonly records?: boolean;
}

/** Time in ms for which a table's lock is waited for. The statements of others queue behind it. */
const LOCK_MS = 500;
/** Tables that go on. The audit trail has entries of operators, and late ones of before. */
const OPEN = [...Object.keys(STAYS), 'audit_events'];
/** Row triggers of one company. They come after those that find a row's company, because they are AFTER triggers. */
const TRIGGERS = { new: 'insert or update', old: 'update or delete' } as const;
const ROWS = ['new', 'old'] as const;

/**
 * The rpcs with which an operator's command freezes a company. None waits: each does what it can, and returns what stands in the way, so that
 * the command calls again. Errors: 400 for what is no id, 409 if the company is no longer frozen, 503 if Kafka does not answer.
 */
export function freezing(options: FreezeOptions): Handlers<typeof FreezeServiceService> {
  const { database, kafka, restored } = options;
  const { underWay = 'null::text' } = options;
  const admin = new KeptAdmin();
  options.background(admin);
  const topics = [...new Set(restored.groups.flatMap((group) => group.topics))].filter(({ name }) => name !== known.watermarks.name);

  /** Remembers which messages its consumers must have applied. Returns what hinders that. */
  async function begin(companyId: string, signal: AbortSignal): Promise<string | null> {
    const ends: Offsets = topics.length === 0 ? new Map() : await endsOf(kafka, topics, admin.use).catch(away);
    signal.throwIfAborted();
    const hidden = topics.flatMap(({ name }) => (ends.has(name) ? [] : [kafka.prefix + name]));
    await database.of(companyId).query({
      text: `insert into frozen_companies as f (company_id, passes) values ($1, $2)
        on conflict (company_id) do update set passes = coalesce(f.passes, excluded.passes)`,
      values: [companyId, hidden.length > 0 ? null : JSON.stringify([...ends])],
    });
    return hidden.length > 0 ? `the topics ${hidden.join(', ')}, which Kafka does not show (right Describe)` : null;
  }

  async function waitsFor(companyId: string, { passes, under_way: begun, closed }: Row): Promise<string | null> {
    if (begun !== null && !closed) return begun;
    const ends: Offsets = new Map(passes);
    const applied = await options.applied?.(database.of(companyId));
    for (const { group, topics: own } of restored.groups.filter((each) => closed === (each.group === options.trail))) {
      const theirs = new Map([...ends].filter(([name]) => own.some((topic) => topic.name === name)));
      if (theirs.size === 0) continue;
      // Before it looks, so that the company waits for one call less.
      if (!closed) await options.hurry?.();
      if (!(await hasPassed(kafka, group, theirs, applied, admin.use).catch(away))) return `the consumer group ${group} to apply what was published before`;
    }
    return null;
  }

  async function stateOf(companyId: string): Promise<Row | undefined> {
    const { rows } = await database.of(companyId).query<Row>({
      text: `select passes, closed_at is not null as closed, ${underWay} as under_way from frozen_companies where company_id = $1::uuid`,
      values: [companyId],
    });
    return rows[0];
  }

  /** Reads the whole outbox, which has no index by company. */
  async function publishes(companyId: string): Promise<boolean> {
    const { rowCount } = await database.of(companyId).query({ text: 'select from outbox where company_id = $1 limit 1', values: [companyId] });
    return rowCount > 0;
  }

  const fenceAll = async (companyId: string): Promise<string[]> =>
    eachTable(database, await tablesOf(database, options, companyId, false), (tx, table, key) => fence(tx, table, key, companyId));

  /** Refuses changes from now on, unless something hinders that: returns it. */
  async function close(companyId: string, signal: AbortSignal): Promise<FreezeResponse | undefined> {
    try {
      const begun = await database.of(companyId).transaction((tx) => closeIn(tx, companyId, signal));
      return begun === null ? undefined : open(begun);
    } catch (error) {
      if (isLockTimeout(error)) return open('transactions that have changed something of the company', true);
      throw error;
    }
  }

  /** Returns work for the company that has begun since. */
  async function closeIn(tx: Transaction, companyId: string, signal: AbortSignal): Promise<string | null> {
    // Each list is sent at once, and executed in this order.
    await Promise.all([lockFreeze(tx, companyId), options.lock?.(tx, companyId)]);
    const [, , { rows }] = await Promise.all([
      // Those that hold the fence have passed a trigger that was made beforehand. A deadlock with one that waits for the company's lock ends in time.
      tx.query({ text: `set local lock_timeout = ${LOCK_MS}` }),
      tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('fence in ' || current_schema() || ' of ' || $1::text, 0))`, values: [companyId] }),
      tx.query<{ under_way: string | null }>({
        text: `select ${underWay} as under_way from frozen_companies where company_id = $1::uuid and passes is not null for update`,
        values: [companyId],
      }),
    ]);
    const [row] = rows;
    if (row === undefined) throw new ApiError('INVALID_REQUEST', 'The company was unfrozen meanwhile: freeze it again.', { status: 409 });
    // The caller may have opened the company again.
    signal.throwIfAborted();
    if (row.under_way === null) {
      await tx.query({ text: 'update frozen_companies set closed_at = coalesce(closed_at, now()) where company_id = $1', values: [companyId] });
    }
    return row.under_way;
  }

  return {
    async getFreeze({ company_id: given }) {
      const companyId = idOf(given);
      const state = await stateOf(companyId);
      const fenced = await tablesOf(database, options, companyId, true);
      const closed = state?.closed === true && (await tablesOf(database, options, companyId, false)).length === 0 && !(await publishes(companyId));
      return { state: { begun: state !== undefined || fenced.length > 0, closed } };
    },
    async prepareFreeze({ company_id: given }) {
      // Connects to Kafka and looks up the topics, for which the company would wait.
      if (topics.length > 0) await endsOf(kafka, topics, admin.use).catch(away);
      return { tables: await fenceAll(idOf(given)) };
    },
    async freeze({ company_id: given }, { signal }) {
      const companyId = idOf(given);
      let state = await stateOf(companyId);
      if (state?.passes == null) {
        const hindered = await begin(companyId, signal);
        if (hindered !== null) return open(hindered);
        state = await stateOf(companyId);
      }
      if (state?.closed !== true) {
        const waiting = state && (await waitsFor(companyId, state));
        if (waiting != null) return open(waiting);
        const held = await close(companyId, signal);
        if (held !== undefined) return held;
      }
      const used = await fenceAll(companyId);
      if (used.length > 0) return open(`transactions that use ${used.join(', ')}`, true);
      if (await publishes(companyId)) return open('messages to Kafka');
      const late = state?.closed === true ? await waitsFor(companyId, state) : null;
      return { state: { begun: true, closed: true, ...(late !== null && { waits_for: late, ask_seldom: true }) } };
    },
    async unfreeze({ company_id: given }) {
      const companyId = idOf(given);
      const end = options.records ? 'update frozen_companies set closed_at = null, passes = null' : 'delete from frozen_companies';
      await database.of(companyId).query({ text: `${end} where company_id = $1`, values: [companyId] });
      return {};
    },
    async removeFences({ company_id: given }) {
      const companyId = idOf(given);
      const own = database.of(companyId);
      await requireOpen(own, companyId);
      await own.query({ text: 'delete from frozen_companies where company_id = $1 and closed_at is null', values: [companyId] });
      return { tables: await eachTable(database, await tablesOf(database, options, companyId, true), (tx, table) => removeFence(tx, table, companyId)) };
    },
  };
}

interface Row {
  readonly passes: [string, { partition: number; offset: string }[]][] | null;
  readonly closed: boolean;
  readonly under_way: string | null;
}

/** Reports that Kafka does not answer: the caller tries again. */
const away = (error: unknown): never => {
  throw ApiError.unavailable(error);
};

const open = (waitsFor: string, seldom = false): FreezeResponse => ({
  state: { begun: true, closed: false, waits_for: waitsFor, ...(seldom && { ask_seldom: true }) },
});

/** In lower case, as PostgreSQL writes it: it becomes a part of statements. */
function idOf(given: string): string {
  requireId(given);
  return given.toLowerCase();
}

const triggerOf = (companyId: string, row: (typeof ROWS)[number]): string => `"frozen_${companyId}_${row}"`;

interface Fenced {
  readonly table: string;
  readonly key: string;
}

/** The tables with rows of companies that have the company's triggers, or lack them. Partitions get theirs from their table. */
async function tablesOf(database: Database, { keys = {} }: FreezeOptions, companyId: string, fenced: boolean): Promise<Fenced[]> {
  const { rows } = await database.of(companyId).query<Fenced>({
    text: `select c.relname::text as table, a.attname::text as key from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = coalesce($1::jsonb ->> c.relname, 'company_id') and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($2::text[])
        and $3 = exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = $4) order by 1`,
    values: [JSON.stringify(keys), OPEN, fenced, triggerOf(companyId, 'new').slice(1, -1)],
  });
  return rows;
}

/** Runs `work` in one transaction for each table, and returns the tables that other transactions used for too long. */
async function eachTable(
  database: Database,
  tables: readonly Fenced[],
  work: (tx: Transaction, table: string, key: string) => Promise<void>,
): Promise<string[]> {
  const used: string[] = [];
  for (const { table, key } of tables) {
    try {
      await database.transaction(async (tx) => {
        await tx.query({ text: `set local lock_timeout = ${LOCK_MS}` });
        await work(tx, table, key);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      used.push(table);
    }
  }
  return used;
}

async function fence(tx: Transaction, table: string, key: string, companyId: string): Promise<void> {
  for (const row of ROWS) {
    await tx.query({
      text: `create or replace trigger ${triggerOf(companyId, row)} after ${TRIGGERS[row]} on ${table}
        for each row when (${row}.${key} = '${companyId}') execute function refuse_frozen('${companyId}')`,
    });
  }
}

/** A trigger is removed either before the company is closed again, which then makes another, or not at all. */
async function removeFence(tx: Transaction, table: string, companyId: string): Promise<void> {
  await lockFreeze(tx, companyId);
  await requireOpen(tx, companyId);
  for (const row of ROWS) await tx.query({ text: `drop trigger if exists ${triggerOf(companyId, row)} on ${table}` });
}

/** Before the company's lock, whose holders may use a table whose trigger is being removed. */
async function lockFreeze(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('freeze in ' || current_schema() || ' of ' || $1::text, 0))`, values: [companyId] });
}

async function requireOpen(db: Queryable, companyId: string): Promise<void> {
  const { rowCount } = await db.query({ text: 'select from frozen_companies where company_id = $1 and closed_at is not null', values: [companyId] });
  if (rowCount > 0) throw new ApiError('INVALID_REQUEST', 'The company is frozen in this service: unfreeze it first.', { status: 409 });
}
