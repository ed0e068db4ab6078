// A copy in a SQLite file, by Node's own SQLite.
import { CopyMovedError, type StoredVersion, type SyncPage, type SyncProgress, type SyncStore } from '../sync.ts';

/** What the store uses of `DatabaseSync` of node:sqlite. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: unknown[]): unknown; get(...values: unknown[]): unknown; all(...values: unknown[]): unknown[] };
  close(): void;
}

export interface SqliteStore extends SyncStore {
  /** For queries of your own. */
  readonly database: SqliteDatabase;
  close(): void;
}

// A variable, because neither compilers without Node's types nor bundlers know the module.
const NODE_SQLITE: string = 'node:sqlite';
const BATCH = 10_000;

/** Opens or creates a copy: the table `records` (kind, id, version, changed_at, load, record as JSON), and `progress`. Needs Node 22.13 or newer. */
export async function openSqliteStore(file: string): Promise<SqliteStore> {
  const { DatabaseSync } = (await import(NODE_SQLITE).catch((cause: unknown) => {
    const message = 'The SQLite store needs Node 22.13 or newer: update Node, or start Node 22.5 to 22.12 with --experimental-sqlite.';
    throw new Error(message, { cause });
  })) as { DatabaseSync: new (file: string) => SqliteDatabase };
  return sqliteStore(new DatabaseSync(file));
}

function sqliteStore(database: SqliteDatabase): SqliteStore {
  // Others can read the copy while a page is stored. A power failure may undo the last pages, each with its cursor. Waits up to 5 s for another
  // program's transaction.
  database.exec(`PRAGMA busy_timeout = 5000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS records (
      kind TEXT NOT NULL, id TEXT NOT NULL, version TEXT NOT NULL, changed_at TEXT NOT NULL, load INTEGER NOT NULL, record TEXT NOT NULL,
      PRIMARY KEY (kind, id));
    CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, load INTEGER NOT NULL, loaded INTEGER NOT NULL)`);
  const read = database.prepare('SELECT cursor, load, loaded FROM progress');
  const keep = database.prepare('INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?)');
  const put = database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM records WHERE kind = ? AND id = ?');
  const removeOthers = database.prepare('DELETE FROM records WHERE load <> ?');
  const after = database.prepare(`SELECT kind, id, version FROM records WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ${BATCH}`);

  function stored(): SyncProgress | undefined {
    const row = read.get() as { cursor: string; load: number; loaded: number } | undefined;
    return row && { cursor: row.cursor, load: row.load, loaded: row.loaded === 1 };
  }

  function write({ changes, before, after: { cursor, load, loaded }, endsLoad }: SyncPage): void {
    if (stored()?.cursor !== before?.cursor) throw new CopyMovedError();
    for (const { kind, id, change, version, changedAt, record } of changes) {
      if (change === 'DELETED') remove.run(kind, id);
      else put.run(kind, id, version, changedAt, load, JSON.stringify(record));
    }
    if (endsLoad) removeOthers.run(load);
    keep.run(cursor, load, loaded ? 1 : 0);
  }

  return {
    database,
    progress: async () => stored(),
    async apply(page) {
      database.exec('BEGIN IMMEDIATE');
      try {
        write(page);
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    async *versions() {
      let last: Pick<StoredVersion, 'kind' | 'id'> | undefined = { kind: '', id: '' };
      while (last !== undefined) {
        const rows = after.all(last.kind, last.id) as StoredVersion[];
        yield rows;
        last = rows.length < BATCH ? undefined : rows.at(-1);
      }
    },
    close: () => database.close(),
  };
}
