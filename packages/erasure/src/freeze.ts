// Freezes a company in one service (docs/adr/0026): triggers that are made for it refuse every change of its rows, by any process.
import { ApiError } from '@truckroll/contract';
import type { FreezeServiceService, FreezeState } from '@truckroll/contract/gen/records/v1/freezes';
import type { Handlers } from '@truckroll/grpc';
import { endsOf, hasPassed, type KafkaClient, type Offsets, type Restored } from '@truckroll/outbox';
import { isLockTimeout, type Database, type Transaction } from '@truckroll/postgres';
import { requireId } from './request.ts';
import { STAYS } from './tables.ts';

export interface FreezeOptions {
  readonly database: Database;
  readonly kafka: KafkaClient;
  /** The service's consumers, which apply what was published of the company before it refuses changes. */
  readonly restored: Pick<Restored, 'groups'>;
  /** The lock of transactions that store records of the company. */
  readonly lock?: (tx: Transaction, companyId: string) => Promise<void>;
  /** SQL: work for the company $1::uuid that has begun, in words for the operator; null if there is none. The service refuses changes after that. */
  readonly underWay?: string;
  /** Columns with the company's id that are not called company_id, by table. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** Time in ms for which a table's lock is waited for. The statements of others queue behind it. */
const LOCK_MS = 500;
/** Tables that go on. The audit trail has entries of operators, and late ones of before. */
const OPEN = [...Object.keys(STAYS), 'audit_events'];
/** Row triggers of one company. They come after those that find a row's company, because they are AFTER triggers. */
const TRIGGERS = { new: 'insert or update', old: 'update or delete' } as const;
const ROWS = ['new', 'old'] as const;

export function freezing(options: FreezeOptions): Handlers<typeof FreezeServiceService> {
  const { database, kafka, restored } = options;
  const topics = [...new Set(restored.groups.flatMap((group) => group.topics))];

  /** Remembers which messages its consumers must have applied. */
  async function begin(companyId: string): Promise<Row> {
    const ends = topics.length === 0 ? [] : [...(await endsOf(kafka, topics).catch(away))];
    await database.of(companyId).query({
      text: `insert into frozen_companies as f (company_id, passes) values ($1, $2)
        on conflict (company_id) do update set passes = coalesce(f.passes, excluded.passes)`,
      values: [companyId, JSON.stringify(ends)],
    });
    return (await stateOf(companyId)) as Row;
  }

  async function waitsFor({ passes, under_way: underWay }: Row): Promise<string | null> {
    if (underWay !== null) return underWay;
    const ends: Offsets = new Map(passes);
    for (const { group, topics: own } of restored.groups) {
      const theirs = new Map([...ends].filter(([name]) => own.some((topic) => topic.name === name)));
      if (theirs.size > 0 && !(await hasPassed(kafka, group, theirs).catch(away))) return `the consumer group ${group} to apply what was published before`;
    }
    return null;
  }

  async function stateOf(companyId: string): Promise<Row | undefined> {
    const { rows } = await database.of(companyId).query<Row>({
      text: `select passes, closed_at is not null as closed, ${options.underWay ?? 'null::text'} as under_way,
          exists (select from outbox o where o.company_id = $1::uuid) as publishes
        from frozen_companies where company_id = $1::uuid`,
      values: [companyId],
    });
    return rows[0];
  }

  return {
    async getFreeze({ company_id: given }) {
      const companyId = idOf(given);
      const state = await stateOf(companyId);
      const fenced = await tablesOf(database, options, companyId, true);
      const closed = state?.closed === true && !state.publishes && (await tablesOf(database, options, companyId, false)).length === 0;
      return { state: { begun: state !== undefined || fenced.length > 0, closed } };
    },
    async freeze({ company_id: given }) {
      const companyId = idOf(given);
      const found = await stateOf(companyId);
      const state = found?.passes == null ? await begin(companyId) : found;
      if (!state.closed) {
        const waiting = await waitsFor(state);
        if (waiting !== null) return open(waiting);
        await database.of(companyId).transaction(async (tx) => {
          await options.lock?.(tx, companyId);
          await tx.query({ text: 'update frozen_companies set closed_at = coalesce(closed_at, now()) where company_id = $1', values: [companyId] });
        });
      }
      const used = await eachTable(database, await tablesOf(database, options, companyId, false), (tx, table, key) => fence(tx, table, key, companyId));
      if (used.length > 0) return open(`transactions that use ${used.join(', ')}`);
      if ((await stateOf(companyId))?.publishes === true) return open('messages to Kafka');
      return { state: { begun: true, closed: true } };
    },
    async unfreeze({ company_id: given }) {
      const companyId = idOf(given);
      await database.of(companyId).query({ text: 'update frozen_companies set closed_at = null, passes = null where company_id = $1', values: [companyId] });
      return {};
    },
    async removeFences({ company_id: given }) {
      const companyId = idOf(given);
      const own = database.of(companyId);
      if ((await stateOf(companyId))?.closed === true) {
        throw new ApiError('INVALID_REQUEST', 'The company is frozen in this service: unfreeze it first.', { status: 409 });
      }
      await own.query({ text: 'delete from frozen_companies where company_id = $1 and closed_at is null', values: [companyId] });
      return { tables: await eachTable(database, await tablesOf(database, options, companyId, true), (tx, table) => removeFence(tx, table, companyId)) };
    },
  };
}

interface Row {
  readonly passes: [string, { partition: number; offset: string }[]][] | null;
  readonly closed: boolean;
  readonly under_way: string | null;
  readonly publishes: boolean;
}

/** Reports that Kafka does not answer: the caller tries again. */
const away = (error: unknown): never => {
  throw ApiError.unavailable(error);
};

const open = (waitsFor: string): { state: FreezeState } => ({ state: { begun: true, closed: false, waits_for: waitsFor } });

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
      text: `create trigger ${triggerOf(companyId, row)} after ${TRIGGERS[row]} on ${table}
        for each row when (${row}.${key} = '${companyId}') execute function refuse_frozen('${companyId}')`,
    });
  }
}

async function removeFence(tx: Transaction, table: string, companyId: string): Promise<void> {
  for (const row of ROWS) await tx.query({ text: `drop trigger if exists ${triggerOf(companyId, row)} on ${table}` });
}
