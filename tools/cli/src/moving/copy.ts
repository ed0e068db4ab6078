// Copies the company's rows out of one snapshot, in batches of one transaction each: a long transaction would hold back the change feeds of
// other companies there. Rows travel as PostgreSQL writes them, so that no value changes on its way.
import { owners } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { StatementError, asOwner, isUniqueViolation, type Queryable } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import { asReplica, inTransaction, type Cell } from './cells.ts';
import type { MovedTable } from './tables.ts';

const BATCH_BYTES = 4 * 2 ** 20;
/** With the pause after it, so that a transaction of a slow server takes half a second. */
const BATCH_MS = 1000;
const MOST_ROWS = 20_000;
const FIRST_ROWS = 200;
/** SQLSTATE of a row without a partition, among others. */
const CHECK_VIOLATION = '23514';

export interface Copying {
  readonly from: Cell;
  readonly to: Cell;
  readonly companyId: string;
  readonly tables: readonly MovedTable[];
  readonly snapshot: string;
  readonly signal: AbortSignal;
  /** Called after each batch. */
  readonly copied: (table: string, rows: number, bytes: number) => void;
}

export async function copyRows({ from, to, companyId, tables, snapshot, signal, copied }: Copying): Promise<void> {
  const beginning = ['begin isolation level repeatable read read only', `set transaction snapshot '${snapshot}'`];
  await inTransaction(from, beginning, (source) =>
    asReplica(to, async (batch) => {
      let since = performance.now();
      for (const table of tables) {
        for await (const { rows, bytes } of batchesOf(source, table, companyId)) {
          signal.throwIfAborted();
          // The rows of a batch become those of the table by its own type, which has the same columns on both sides (check.ts).
          const text = `insert into ${table.name} overriding system value select * from unnest($1::${table.name}[])`;
          await batch(async (target) => void (await target.query({ text, values: [rows] }))).catch((error: unknown) => explain(error, table));
          copied(table.name, rows.length, bytes);
          // For as long as the batch took, other companies have both servers for themselves.
          await pause(performance.now() - since, signal);
          since = performance.now();
        }
      }
      // Else `analyzeGrown` might look too early.
      await batch(async (target) => void (await target.query({ text: 'select pg_stat_force_next_flush()' })));
    }),
  );
}

/** In the caller's transaction. */
async function* batchesOf(source: Queryable, { name, key }: MovedTable, companyId: string): AsyncGenerator<{ rows: string[]; bytes: number }> {
  await source.query({ text: `declare moved no scroll cursor for select t::text as row from ${name} t where ${key} = '${companyId}'` });
  for (let most = FIRST_ROWS; ; ) {
    const { rows } = await source.query<{ row: string }>({ text: `fetch ${most} from moved` });
    const bytes = rows.reduce((sum, { row }) => sum + row.length, 0);
    const since = performance.now();
    if (rows.length > 0) yield { rows: rows.map(({ row }) => row), bytes };
    if (rows.length < most) break;
    const share = Math.min(BATCH_BYTES / bytes, BATCH_MS / (performance.now() - since));
    most = Math.min(MOST_ROWS, 8 * most, Math.max(1, Math.floor(most * share)));
  }
  await source.query({ text: 'close moved' });
}

function explain(error: unknown, { name }: MovedTable): never {
  const remedy = 'see its PostgreSQL log, and give up with --abort.';
  if (isUniqueViolation(error)) throw new Failure(`The other cell already has a row of ${name} with a key of this company: ${remedy}`, EXIT.refused, error);
  if (error instanceof StatementError && error.sqlState === CHECK_VIOLATION)
    throw new Failure(`The other cell has no place for a row of ${name}: ${remedy}`, EXIT.refused, error);
  throw error;
}

/** Makes the days of the webhook log that the company has and the other cell lacks. */
export async function makeDaysOf(from: Cell, to: Cell): Promise<void> {
  const { makeDays, oldestDay } = await import('@truckroll/integrations/restored');
  const { rows } = await from.db.query<{ day: string }>({
    text: `select distinct to_char(to_date(substring(relname from '[0-9]{8}$'), 'YYYYMMDD'), 'YYYY-MM-DD') as day from pg_class
      where relnamespace = 'integrations'::regnamespace and relispartition and relkind = 'r' and relname ~ '^webhook_[a-z_]+_[0-9]{8}$'`,
  });
  const days = rows.map(({ day }) => day).filter((day) => day >= oldestDay());
  await asOwner({ url: to.url, schema: 'integrations' }, async (owner) => {
    await owner.query({ text: 'begin' });
    await makeDays(owner, days);
    await owner.query({ text: 'commit' });
  });
}

/** Analyzes tables that have grown. Autovacuum does it a minute later, and until then plans would read whole tables for the company's rows. */
export async function analyzeGrown({ db }: Cell): Promise<void> {
  const { rows } = await db.query<{ name: string }>({
    text: `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
      where schemaname = any($1) and n_mod_since_analyze > n_live_tup / 2`,
    values: [owners],
  });
  for (const { name } of rows) await db.query({ text: `analyze ${name}` });
}
