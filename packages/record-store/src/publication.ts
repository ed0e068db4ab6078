// Publishes records that an owner already stores: those stored before their kind was published, those changed by a replica of an earlier
// release, and all of them when an operator asks.
import { codec, type TopicDefinition } from '@truckroll/contract';
import type { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import type { TaskBatch, CatchUp, Cursor, Runner, Task } from '@truckroll/catch-up';
import type { Handlers } from '@truckroll/grpc';
import type { Outbox } from '@truckroll/outbox';
import { notFreezing, refuseFrozen, uuidOf, type Database, type DatabaseSession, type Transaction } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import { RECORD_SIZE, portionsOf } from './large.ts';
import { lockCompany } from './lock.ts';
import { publishChanged } from './messaging.ts';
import type { Changed, Table } from './table.ts';

export interface PublicationOptions {
  database: Database;
  tables: readonly Table[];
  catchUp: CatchUp;
}

export const PUBLISH = 'publish';
const BATCH = 1000;
/** Outbox rows above which publishing waits for the relay, so that current changes are not delayed by the whole backlog. */
const MOST_WAITING = 5000;
const FULL_MS = 20;

type Published = Table & { publishes: NonNullable<Table['publishes']> };

export class Publication {
  /** Settings for transactions of a release that publishes its own changes: see services/billing/migrations. */
  static readonly settings = { 'truckroll.publishes': 'on' };
  readonly topics: readonly TopicDefinition[];
  readonly #options: PublicationOptions;
  readonly #tables: ReadonlyMap<string, Published>;
  readonly #runner: Runner;
  #outbox: Pick<Outbox, 'poke'> | undefined;
  /** Id of the lowest outbox row last seen: rows before it are dead and need not be scanned again. */
  #lowest = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
    const tables = options.tables.filter((table): table is Published => table.publishes !== undefined);
    this.#tables = new Map(tables.map((table) => [table.path, table]));
    this.topics = tables.map(({ publishes }) => publishes.topic);
    this.#runner = options.catchUp.add(this.#task());
  }

  /** Makes the publication wake this outbox's relay after each batch. The outbox is made later, because it takes `topics` and `complete`. */
  wakes(outbox: Pick<Outbox, 'poke'>): void {
    this.#outbox = outbox;
  }

  /**
   * Whether every record has been published at least once, and every change by a replica of an earlier release too. Those of a frozen company are
   * published later, and do not count: a move leaves it frozen for long. If not, wakes the publication.
   */
  readonly complete = async (session: Pick<DatabaseSession, 'query'>): Promise<boolean> => {
    const { rows } = await session.query<{ complete: boolean }>({
      name: 'publication_complete',
      text: `select (select count(*) from catch_up where task = '${PUBLISH}' and complete and subject = any($1::text[])) = cardinality($1::text[])
        and not exists (select from unpublished where ${notFreezing('unpublished.company_id')}) as complete`,
      values: [[...this.#tables.keys()]],
    });
    const complete = rows[0]?.complete === true;
    if (!complete) this.#runner.look();
    return complete;
  };

  /** Serves the command line of release 1.3.0. */
  handlers(): Handlers<typeof PublishingServiceService> {
    const runner = this.#runner;
    return {
      async *publish(_, { signal }) {
        for await (const { subject, processed, total, done } of runner.again(signal)) yield { path: subject, published: processed, total, done };
      },
    };
  }

  #task(): Task {
    const { database } = this.#options;
    const tables = this.#tables;
    return {
      name: PUBLISH,
      subjects: [...tables.keys()],
      next: (tx, path, after) => publishNext(tx, tables.get(path) as Published, after),
      async due() {
        const { rows } = await database.query<{ path: string }>({ name: 'paths_unpublished', text: 'select distinct path from unpublished' });
        let worked = false;
        for (const { path } of rows) {
          const table = tables.get(path);
          if (table !== undefined && (await database.transaction((tx) => publishNoted(tx, table), { retryContention: true }))) worked = true;
        }
        return worked;
      },
      worked: async (signal) => {
        this.#outbox?.poke();
        while (!signal.aborted && (await this.#full())) await pause(FULL_MS, signal);
      },
      total: (path) => about(database, tables.get(path) as Published),
    };
  }

  async #full(): Promise<boolean> {
    const { rows } = await this.#options.database.query<{ waiting: number; lowest: number | null }>({
      name: 'outbox_waiting',
      text: `select count(*) as waiting, min(id) as lowest from (select id from outbox where id >= $1 order by id limit ${MOST_WAITING}) first`,
      values: [this.#lowest],
    });
    this.#lowest = rows[0]?.lowest ?? this.#lowest;
    return (rows[0]?.waiting ?? 0) >= MOST_WAITING;
  }
}

/** PostgreSQL's estimate of the number of records; an exact count if the table was never analyzed. */
async function about(database: Database, { table }: Published): Promise<number> {
  const { rows } = await database.query<{ total: number }>({
    text: `select case when reltuples >= 0 then reltuples::bigint else (select count(*) from ${table}) end as total from pg_class where oid = $1::regclass`,
    values: [table],
  });
  return rows[0]?.total ?? 0;
}

/** Publishes the next records, all of one company. */
async function publishNext(tx: Transaction, table: Published, { companyId: lastCompany, id: lastId }: Cursor): Promise<TaskBatch> {
  const { rows } = await tx.query<{ company_id: string }>({
    name: `next_to_publish_${table.table}`,
    text: `select company_id from ${table.table} where (company_id, id) > ($1, $2) order by company_id, id limit 1`,
    values: [lastCompany, lastId],
  });
  const companyId = rows[0]?.company_id;
  if (companyId === undefined) return { count: 0, reached: undefined };
  const after = companyId === lastCompany ? lastId : null;
  const { rows: sizes } = await tx.query<Sized>({
    text: `select id, ${RECORD_SIZE} as size from ${table.table} where company_id = $1 and ($2::uuid is null or id > $2) order by id limit ${BATCH}`,
    values: [companyId, after],
  });
  const [ids = []] = portionsOf(sizes);
  const count = await publishRows(tx, table, companyId, ids);
  return { count, reached: { companyId, id: ids.at(-1) ?? lastId } };
}

async function publishNoted(tx: Transaction, table: Published): Promise<boolean> {
  const { rows } = await tx.query<{ company_id: string; id: string }>({
    name: 'take_unpublished',
    text: `with taken as (
        select path, company_id, id from unpublished where path = $1
          and company_id = (select min(company_id::text)::uuid from unpublished where path = $1 and ${notFreezing('unpublished.company_id')})
          limit ${BATCH} for update skip locked)
      delete from unpublished u using taken t where u.path = t.path and u.company_id = t.company_id and u.id = t.id
      returning u.company_id, u.id`,
    values: [table.path],
  });
  const companyId = rows[0]?.company_id;
  if (companyId === undefined) return false;
  const { rows: sizes } = await tx.query<Sized>({
    text: `select id, ${RECORD_SIZE} as size from ${table.table} where company_id = $1 and id = any($2::uuid[]) order by id`,
    values: [companyId, rows.map(({ id }) => id)],
  });
  for (const ids of portionsOf(sizes)) await publishRows(tx, table, companyId, ids);
  return true;
}

/**
 * Appends records in their current state, and returns their number. Takes the same locks as a change of a record, so that its events are in
 * the order of its changes.
 */
async function publishRows(tx: Transaction, table: Published, companyId: string, ids: readonly string[]): Promise<number> {
  await lockCompany(tx, companyId);
  await refuseFrozen(tx, companyId);
  if (table.lockFirst !== undefined) {
    const { decode } = codec(table.resource.record.typeName);
    const found = await rowsOf(tx, table, companyId, ids);
    await table.lockFirst(tx, companyId, found.map((row) => ({ ...row, record: decode(row.document) })) as never);
  }
  const held = await rowsOf(tx, table, companyId, ids, 'for no key update');
  await publishChanged(tx, table, companyId, held);
  return held.length;
}

type Row = Omit<Changed<never>, 'record'>;

interface Sized {
  id: string;
  size: number;
}

async function rowsOf(tx: Transaction, table: Published, companyId: string, ids: readonly string[], lock = ''): Promise<Row[]> {
  const rows = await tx.queryBinary({
    text: `select id, document, derived from ${table.table} where company_id = $1 and id = any($2::uuid[]) order by id ${lock}`,
    values: [companyId, ids],
  });
  return rows.map(([id, document, derived]) => ({ id: uuidOf(id!), document: document!, ...(derived && { derived }) }));
}
