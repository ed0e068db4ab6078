// Publishes records that an owner already stores: those stored before their kind was published, those changed by a replica of an earlier
// release, and all of them when an operator asks. Works in batches; any replica can continue.
import { codec, type TopicDefinition } from '@truckroll/contract';
import type { PublishResponse, PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import type { CallContext, Handlers } from '@truckroll/grpc';
import { uuidOf, type Database, type DatabaseSession, type Transaction } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { RECORD_SIZE, portionsOf } from './large.ts';
import { lockCompany } from './lock.ts';
import { publishChanged } from './messaging.ts';
import type { Changed, Table } from './table.ts';

export interface PublicationOptions {
  database: Database;
  tables: readonly Table[];
  /** Wakes the outbox's relay. */
  poke(): void;
  log: Logger;
}

const BATCH = 1000;
const LEAST_ID = '00000000-0000-0000-0000-000000000000';
/** Outbox rows above which publishing waits for the relay, so that current changes are not delayed by the whole backlog. */
const MOST_WAITING = 5000;
const FULL_MS = 20;
/** Interval between progress reports of a requested pass, which also wake the publication, and wait after a database error, in ms. */
const AGAIN_MS = 1000;
/** Interval between looks, in ms. The replica with the active relay also looks whenever it could not publish a watermark. */
const REST_MS = 10_000;

type Published = Table & { publishes: NonNullable<Table['publishes']> };

export class Publication implements BackgroundPart {
  /** Settings for transactions of a release that publishes its own changes: see services/billing/migrations. */
  static readonly settings = { 'truckroll.publishes': 'on' };
  readonly name = 'publication';
  readonly topics: readonly TopicDefinition[];
  readonly #options: PublicationOptions;
  readonly #tables: readonly Published[];
  readonly #looks = new PeriodicTask(
    REST_MS,
    (signal) => this.#run(signal),
    (error, failures) => logOutage(this.#options.log, 'stored records could not be published; trying again', failures, error),
    AGAIN_MS,
  );
  /** Id of the lowest outbox row last seen: rows before it are dead and need not be scanned again. */
  #lowest = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#tables = options.tables.filter((table): table is Published => table.publishes !== undefined);
    this.topics = this.#tables.map(({ publishes }) => publishes.topic);
  }

  /** Whether every record has been published at least once, and every change by a replica of an earlier release too. If not, wakes the publication. */
  readonly complete = async (session: Pick<DatabaseSession, 'query'>): Promise<boolean> => {
    const { rows } = await session.query<{ complete: boolean }>({
      name: 'publication_complete',
      text: `select (select count(*) from publications where complete and path = any($1::text[])) = cardinality($1::text[])
        and not exists (select from unpublished) as complete`,
      values: [this.#paths()],
    });
    const complete = rows[0]?.complete === true;
    if (!complete) this.#looks.now();
    return complete;
  };

  /** Publishes the first batches before it returns: a schema without records is then complete before it accepts any. */
  async start(): Promise<void> {
    const { database, log } = this.#options;
    await this.#some(database).catch((error: unknown) => log.warn({ error }, 'stored records could not be published at start; trying again'));
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  handlers(): Handlers<typeof PublishingServiceService> {
    return { publish: (_, context) => this.#publish(context) };
  }

  async *#publish({ signal }: CallContext): AsyncIterable<PublishResponse> {
    const { database } = this.#options;
    await database.query({
      text: `update publications set company_id = null, after = null, published = 0, done = false where done and path = any($1::text[])`,
      values: [this.#paths()],
    });
    const totals = new Map<string, number>();
    for (const table of this.#tables) totals.set(table.path, await about(database, table));
    for (const published = new Set<string>(); published.size < this.#tables.length; ) {
      this.#looks.now();
      const { rows } = await database.query<Omit<PublishResponse, 'total'>>({
        text: 'select path, published, done from publications where path = any($1::text[]) order by path',
        values: [this.#paths()],
      });
      for (const row of rows) {
        if (published.has(row.path)) continue;
        if (row.done) published.add(row.path);
        yield { ...row, total: totals.get(row.path) ?? 0 };
      }
      signal.throwIfAborted();
      if (published.size < this.#tables.length) await pause(AGAIN_MS, signal);
    }
  }

  #paths(): string[] {
    return this.#tables.map(({ path }) => path);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { database, poke } = this.#options;
    while (!signal.aborted && (await this.#some(database))) {
      poke();
      while (!signal.aborted && (await this.#full())) await pause(FULL_MS, signal);
    }
  }

  async #some(database: Database): Promise<boolean> {
    const { rows: looked } = await database.query<{ any: boolean }>({
      name: 'anything_to_publish',
      text: `select (select count(*) from publications where done and path = any($1::text[])) < cardinality($1::text[])
        or exists (select from unpublished) as any`,
      values: [this.#paths()],
    });
    if (looked[0]?.any !== true) return false;
    await database.query({
      name: 'note_publications',
      text: 'insert into publications (path) select unnest($1::text[]) on conflict do nothing',
      values: [this.#paths()],
    });
    let busy = false;
    for (const table of this.#tables) {
      const work = async (tx: Transaction): Promise<boolean> => (await publishNoted(tx, table)) || (await publishNext(tx, table));
      if (await database.transaction(work, { retryContention: true })) busy = true;
    }
    return busy;
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

/** Publishes the next records of a pass; false if it is finished, or another replica is working on it. */
async function publishNext(tx: Transaction, table: Published): Promise<boolean> {
  const { path } = table;
  const { rows } = await tx.query<{ company_id: string | null; after: string | null }>({
    name: 'publication_at',
    text: 'select company_id, after from publications where path = $1 and not done for update skip locked',
    values: [path],
  });
  const [at] = rows;
  if (at === undefined) return false;
  const { rows: next } = await tx.query<{ company_id: string }>({
    name: `next_to_publish_${table.table}`,
    // Prepared with non-null values: with a condition on null parameters, PostgreSQL would walk the index from its beginning.
    text: `select company_id from ${table.table} where (company_id, id) > ($1, $2) order by company_id, id limit 1`,
    values: [at.company_id ?? LEAST_ID, at.after ?? LEAST_ID],
  });
  const companyId = next[0]?.company_id;
  if (companyId === undefined) {
    await tx.query({ name: 'publication_done', text: 'update publications set done = true, complete = true where path = $1', values: [path] });
    return false;
  }
  const after = companyId === at.company_id ? at.after : null;
  const { rows: sizes } = await tx.query<Sized>({
    text: `select id, ${RECORD_SIZE} as size from ${table.table} where company_id = $1 and ($2::uuid is null or id > $2) order by id limit ${BATCH}`,
    values: [companyId, after],
  });
  const [ids = []] = portionsOf(sizes);
  const count = await publishRows(tx, table, companyId, ids);
  await tx.query({
    name: 'publication_proceeds',
    text: 'update publications set company_id = $2, after = $3, published = published + $4 where path = $1',
    values: [path, companyId, ids.at(-1) ?? after, count],
  });
  return true;
}

async function publishNoted(tx: Transaction, table: Published): Promise<boolean> {
  const { rows } = await tx.query<{ company_id: string; id: string }>({
    name: 'take_unpublished',
    text: `with taken as (
        select path, company_id, id from unpublished where path = $1
          and company_id = (select min(company_id::text)::uuid from unpublished where path = $1) limit ${BATCH} for update skip locked)
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
